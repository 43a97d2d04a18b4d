// Add, and throw; given an argument, repeat what is typed and run until there is a file `over`.
"use strict";

const fs = require("node:fs");

let total = 0;

function add(number) {
    total += number; // (add)
    return total; // (added)
}

function work(number) {
    add(number); // (call)
}

async function runOn() {
    console.log("ready");
    for await (const line of require("node:readline").createInterface({ input: process.stdin })) {
        console.log("read", line);
    }
    for (let tick = 0; tick < 6000; tick++) {
        await new Promise((resolve) => setTimeout(resolve, 10)); // (tick)
        if (fs.existsSync("over")) {
            console.log("over");
            process.exit();
        }
    }
}

if (process.argv.length > 2) {
    runOn();
} else {
    for (let number = 1; number <= 20; number++) {
        work(number);
    }
    console.log("total", total);
    throw new Error("no more to add");
}
