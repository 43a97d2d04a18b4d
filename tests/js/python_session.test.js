/** Microsoft's DebugClient against the Python adapter: how sessions begin and end. */
"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const {
  LINE, ORDERS, evaluate, hasWritten, launch, launchToStop, nextStop, outputOf, place, pythonTest, written,
} = require("./python.js");

const ENDLESS = "print('ready', flush=True)\nwhile True: pass";

pythonTest("launch", "initialize tells what the adapter can do", async (client) => {
  const { body } = await client.initializeRequest();
  assert.equal(body.supportsConfigurationDoneRequest, true);
  assert.equal(body.supportsTerminateRequest, true);
  assert.ok(!body.supportsStepBack);
  assert.deepEqual(body.exceptionBreakpointFilters.map(({ filter }) => filter), ["raised", "uncaught", "userUnhandled"]);
});

pythonTest("launch", "an unknown request is refused", async (client) => {
  await client.initializeRequest();
  await assert.rejects(client.send("illegalRequest"), /illegalRequest/);
});

pythonTest("launch", "a program runs to its end and tells its exit code", async (client) => {
  const output = outputOf(client);
  const ended = Promise.all([client.waitForEvent("exited"), client.waitForEvent("terminated")]);
  await launch(client);
  const [{ body: { exitCode } }] = await ended;
  assert.equal(exitCode, 4);
  assert.equal(output.stdout, "order 0\norder 1\norder 2\norder 3\norder 4\n");
  assert.equal(output.stderr, "to stderr\n");
});

pythonTest("launch", "a program that does not exist is refused by its name", async (client) => {
  await client.initializeRequest();
  await assert.rejects(client.launchRequest({ program: "/nowhere/missing.py" }), /missing\.py/);
});

pythonTest("launch", "stopOnEntry stops before the first line", async (client) => {
  const stop = await launchToStop(client, { stopOnEntry: true });
  assert.equal(stop.reason, "entry");
  assert.equal(await place(client), "<module>:1");
});

pythonTest("launch", "noDebug only runs", async (client) => {
  const ended = client.waitForEvent("exited");
  await launch(client, { noDebug: true, breakpoints: [{ line: LINE.call }] });
  assert.equal((await ended).body.exitCode, 4);
});

pythonTest("launch", "arguments, folder and environment reach the program", async (client) => {
  const output = outputOf(client);
  const ended = client.waitForEvent("terminated");
  const code = "import os, sys\nprint(sys.argv[1:], os.getcwd(), os.environ['WHO'])";
  await launch(client, { code, args: ["a b"], cwd: __dirname, env: { WHO: "me" } });
  await ended;
  assert.equal(output.stdout, `['a b'] ${__dirname} me\n`);
});

pythonTest("restart, terminate, disconnect", "terminate lets the program clean up", async (client) => {
  const output = outputOf(client);
  const ready = hasWritten(client, "ready");
  const code = "import time\ntry:\n    print('ready')\n    time.sleep(60)\nfinally:\n    print('cleaned up')\n";
  await launch(client, { code });
  await ready;
  const ended = Promise.all([client.waitForEvent("exited"), client.waitForEvent("terminated")]);
  await client.terminateRequest();
  const [{ body: { exitCode } }] = await ended;
  assert.equal(output.stdout, "ready\ncleaned up\n");
  assert.equal(exitCode, 130);
});

pythonTest("restart, terminate, disconnect", "disconnect ends the program", async (client) => {
  const output = outputOf(client);
  const ready = hasWritten(client, "ready");
  await launch(client, { code: `import os\nprint(os.getpid(), flush=True)\n${ENDLESS}` });
  await ready;
  await client.disconnectRequest({ terminateDebuggee: true });
  assert.throws(() => process.kill(Number.parseInt(output.stdout, 10), 0), { code: "ESRCH" });
});

pythonTest("continue, pause", "pause stops a running program, and continue lets it go on", async (client) => {
  const ready = hasWritten(client, "ready");
  await launch(client, { code: ENDLESS });
  await ready;
  for (const _ of [1, 2]) {
    const stop = await nextStop(client, client.pauseRequest({ threadId: 1 }));
    assert.equal(stop.reason, "pause");
    const { body } = await client.continueRequest({ threadId: 1 });
    assert.notEqual(body.allThreadsContinued, false);
  }
});

pythonTest("continue, pause", "with stopAllThreads false only the thread that hits something stops", async (client) => {
  const { file, marks } = written(`
    import asyncio
    beats = 0
    def job():
        return 1  # here
    async def main():
        global beats
        worker = asyncio.get_running_loop().run_in_executor(None, job)
        while not worker.done():
            beats += 1
            await asyncio.sleep(0.001)
    asyncio.run(main())
  `);
  const ended = client.waitForEvent("exited");
  const session = { program: file, breakpoints: [{ line: marks.here }], stopAllThreads: false };
  const { allThreadsStopped, threadId } = await launchToStop(client, session);
  assert.equal(allThreadsStopped, false);
  const [{ id: frameId }] = (await client.stackTraceRequest({ threadId })).body.stackFrames;
  const beats = async () => Number((await client.evaluateRequest({ expression: "beats", frameId })).body.result);
  const before = await beats();
  while (await beats() < before + 5); // the event loop goes on
  await assert.rejects(client.nextRequest({ threadId: 1 }), /thread 1 is running/);
  const { body } = await client.continueRequest({ threadId });
  assert.equal(body.allThreadsContinued, false);
  assert.equal((await ended).body.exitCode, 0);
});

pythonTest("continue, pause", "continue that names no thread means all, one of an unknown thread is refused", async (client) => {
  await launchToStop(client, { breakpoints: [{ line: LINE.call }] });
  await assert.rejects(client.send("continue", { threadId: 0 }), /there is no thread 0/);
  await nextStop(client, client.send("continue", {}));
  assert.equal(await place(client), `main:${LINE.call}`);
});

pythonTest("cancel, progress", "cancel ends a long evaluation", async (client) => {
  await launchToStop(client, { breakpoints: [{ line: LINE.call }] });
  await evaluate(client, "import time");
  const asleep = evaluate(client, "print('asleep', flush=True) or time.sleep(60)");
  await hasWritten(client, "asleep");
  await Promise.all([assert.rejects(asleep, /cancelled/), client.send("cancel", { requestId: client.sequence - 1 })]);
  assert.equal((await evaluate(client, "number")).result, "0");
});

pythonTest("restart, terminate, disconnect", "restart runs the program again, with new arguments and the same breakpoints", async (client) => {
  const processes = [];
  client.on("process", ({ body }) => processes.push(body.systemProcessId));
  const first = await launchToStop(client, { breakpoints: [{ line: LINE.call }] });
  const restart = client.send("restart", { arguments: { program: ORDERS, args: ["--fail"] } });
  const again = await nextStop(client, restart);
  assert.deepEqual(again.hitBreakpointIds, first.hitBreakpointIds);
  assert.equal((await evaluate(client, "sys.argv[1:]")).result, "['--fail']");
  assert.equal(new Set(processes).size, 2);
});

pythonTest("restart, terminate, disconnect", "disconnect can let the program go on", async (client) => {
  const { file } = written(`
    import sys
    from pathlib import Path
    n = 1  # here
    Path(sys.argv[1]).write_text("went on")
  `);
  const result = path.join(path.dirname(file), "result");
  await launchToStop(client, { program: file, args: [result], breakpoints: [{ line: 3 }] });
  const appeared = new Promise((resolve) => {
    fs.watch(path.dirname(file), (_, name) => {
      if (name === "result" && fs.existsSync(result) && fs.readFileSync(result, "utf8") === "went on") resolve();
    }).unref();
  });
  await client.disconnectRequest({ terminateDebuggee: false });
  await appeared;
});

pythonTest("attach", "what cannot be attached to is refused with the reason", async (client) => {
  await client.initializeRequest();
  await assert.rejects(client.attachRequest({ processId: process.pid }), /is not a Python program/);
  await assert.rejects(client.attachRequest({ name: "nothing to attach to" }), /connect/);
  await assert.rejects(client.attachRequest({ connect: { host: "127.0.0.1", port: 1 } }), /127\.0\.0\.1/);
});
