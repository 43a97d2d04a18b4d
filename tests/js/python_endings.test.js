/** Microsoft's DebugClient against the Python adapter: restarts, endings, and programs that run already. */
"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { ADAPTERS, AdapterClient } = require("./helper.js");
const {
  LINE, ORDERS, attach, evaluate, hasWritten, launch, launchToStop, nextStop, outputOf, place, pythonTest, started, written,
} = require("./python.js");

const ENDINGS = "restart, terminate, disconnect";

/** A program that clients may attach to, and that ends once it finds a file `go`. */
const LISTENING = `
  import os, time
  import dapkit
  dapkit.listen()
  count = 0
  while not os.path.exists("go"):
      count += 1
      time.sleep(0.001)  # here
  print("end", flush=True)
`;

/** The state of a process, as the system has it: T is stopped. */
function stateOf(pid) {
  return fs.readFileSync(`/proc/${pid}/stat`, "utf8").match(/\) (.)/)[1];
}

async function processOf(client) {
  return (await client.waitForEvent("process")).body.systemProcessId;
}

pythonTest(ENDINGS, "restart keeps breakpoints of every kind, their conditions, and the filters", async (client) => {
  const { file, marks } = written(`
    def called(n):
        return n
    for n in range(3):
        x = called(n)  # loop
    try:
        1 / 0  # raise
    except ZeroDivisionError:
        pass
  `);
  const configure = () => client.setFunctionBreakpointsRequest({ breakpoints: [{ name: "called", condition: "n == 2" }] });
  const breakpoints = [{ line: marks.loop, condition: "n == 1" }, { line: marks.loop, logMessage: "n is {n}" }];
  const output = outputOf(client);
  const run = async (first) => {
    const seen = [first];
    while (seen.length < 3) seen.push(await nextStop(client, client.continueRequest({ threadId: 1 })));
    assert.equal(await place(client), `<module>:${marks.raise}`);
    return seen.map(({ reason }) => reason);
  };
  const before = await run(await launchToStop(client, { program: file, breakpoints, filters: ["raised"], configure }));
  assert.deepEqual(before, ["breakpoint", "function breakpoint", "exception"]);
  assert.equal(output.console, "n is 0\nn is 1\nn is 2\n");
  const after = await run(await nextStop(client, client.send("restart")));
  assert.deepEqual(after, before);
  assert.equal(output.console, "n is 0\nn is 1\nn is 2\n".repeat(2));
});

pythonTest(ENDINGS, "restart with wrong arguments is refused, and the program is still there", async (client) => {
  await launchToStop(client, { breakpoints: [{ line: LINE.call }] });
  await assert.rejects(client.send("restart", { arguments: { program: ORDERS, args: 7 } }), /args/);
  assert.equal(await place(client), `main:${LINE.call}`);
});

pythonTest(ENDINGS, "terminate sends SIGTERM to a program that ignores interrupts", async (client) => {
  const output = outputOf(client);
  const ready = hasWritten(client, "ready");
  const code = [
    "import signal, sys, time",
    "signal.signal(signal.SIGINT, signal.SIG_IGN)",
    "signal.signal(signal.SIGTERM, lambda *_: sys.exit('asked to end'))",
    "print('ready', flush=True)",
    "while True: time.sleep(0.01)",
  ];
  await launch(client, { code });
  await ready;
  const exited = client.waitForEvent("exited");
  await client.terminateRequest();
  assert.equal((await exited).body.exitCode, 1);
  assert.equal(output.stderr, "asked to end\n");
});

pythonTest(ENDINGS, "a second terminate kills", async (client) => {
  const refusing = hasWritten(client, "refusing");
  const ready = hasWritten(client, "ready");
  const code = [
    "import time",
    "while True:",
    "    try: print('ready', flush=True); time.sleep(60)",
    "    except KeyboardInterrupt: print('refusing', flush=True)",
  ];
  await launch(client, { code });
  await ready;
  await client.terminateRequest();
  await refusing;
  const exited = client.waitForEvent("exited");
  await client.terminateRequest();
  assert.equal((await exited).body.exitCode, 128 + 9);
});

pythonTest(ENDINGS, "disconnect with suspendDebuggee leaves a launched program stopped", async (client) => {
  const { file, marks } = written(`
    from pathlib import Path
    n = 1  # here
    Path("went on").touch()
    Path("over").touch()
  `);
  const folder = path.dirname(file);
  const process_ = processOf(client);
  await launchToStop(client, { program: file, cwd: folder, breakpoints: [{ line: marks.here }] });
  const pid = await process_;
  await client.disconnectRequest({ suspendDebuggee: true });
  await until(() => stateOf(pid) === "T");
  const over = appears(folder, "over");
  process.kill(pid, "SIGCONT");
  await over;
  assert.ok(fs.existsSync(path.join(folder, "went on")));
});

pythonTest("attach", "a listening program is attached to, let go, and attached to again", async (client) => {
  const program = started(LISTENING);
  const port = await program.port();
  const breakpoints = [{ line: program.marks.here }];
  await nextStop(client, attach(client, { connect: { host: "127.0.0.1", port }, file: program.file, breakpoints }));
  assert.equal(await place(client), `<module>:${program.marks.here}`);
  const before = Number((await evaluate(client, "count")).result);
  await client.disconnectRequest({});
  await anotherClient(async (second) => {
    await nextStop(second, attach(second, { port, file: program.file, breakpoints }));
    assert.ok(Number((await evaluate(second, "count")).result) > before);
  });
  program.go();
  assert.equal(await program.line(), "end");
  assert.equal(await program.exit, 0);
});

pythonTest("attach", "a program that is left suspended stands where it stood", async (client) => {
  const program = started(LISTENING);
  const port = await program.port();
  await nextStop(client, attach(client, { port, file: program.file, breakpoints: [{ line: program.marks.here }] }));
  const before = (await evaluate(client, "count")).result;
  await client.disconnectRequest({ suspendDebuggee: true });
  await anotherClient(async (second) => {
    const stop = await nextStop(second, attach(second, { port, file: program.file }));
    assert.equal(stop.reason, "pause");
    assert.equal((await evaluate(second, "count")).result, before);
  });
  program.go();
  assert.equal(await program.exit, 0);
});

pythonTest("attach", "disconnect can end a program that was attached to", async (client) => {
  const program = started(LISTENING);
  await attach(client, { port: await program.port() });
  await client.disconnectRequest({ terminateDebuggee: true });
  assert.notEqual(await program.exit, 0);
});

pythonTest("attach", "restart attaches again, and breakpoints are kept", async (client) => {
  const program = started(LISTENING);
  const breakpoints = [{ line: program.marks.here }];
  await nextStop(client, attach(client, { port: await program.port(), file: program.file, breakpoints }));
  const before = Number((await evaluate(client, "count")).result);
  await nextStop(client, client.send("restart"));
  assert.ok(Number((await evaluate(client, "count")).result) > before);
});

pythonTest("attach", "a program comes to an adapter that waits for it", async (client) => {
  const output = outputOf(client);
  const waiting = attach(client, { listen: { port: 0 }, configure: () => client.setFunctionBreakpointsRequest({ breakpoints: [{ name: "called" }] }) });
  const stopped = client.waitForEvent("stopped");
  await until(() => output.console.includes("dapkit.connect"));
  const port = output.console.match(/, (\d+)\)/)[1];
  const program = started(
    `
      import sys, dapkit
      def called():
          return dapkit.is_client_connected()
      dapkit.connect(int(sys.argv[1]))
      dapkit.wait_for_client()
      print(called(), flush=True)
    `,
    port,
  );
  await waiting;
  assert.equal((await stopped).body.reason, "function breakpoint");
  await client.continueRequest({ threadId: 1 });
  assert.equal(await program.line(), "True");
  assert.equal(await program.exit, 0);
});

pythonTest("attach", "what cannot be attached to is refused with the reason", async (client) => {
  await assert.rejects(attach(client, { processId: process.pid }), /is not a Python program/);
  const again = (configuration) => client.attachRequest(configuration);
  await assert.rejects(again({ justMyCode: true }), /exactly one of connect, listen, socket and processId, got none of them/);
  await assert.rejects(again({ port: 1 }), /127\.0\.0\.1:1|refused/);
  await assert.rejects(again({ connect: { port: "x" } }), /\$\.arguments\.connect\.port/);
});

/** Do something as a client with an adapter of its own. */
async function anotherClient(body) {
  const client = new AdapterClient(ADAPTERS.python);
  await client.start();
  try {
    await body(client);
  } finally {
    await client.stop();
  }
}

/** Wait for what nothing tells of. */
async function until(holds) {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

function appears(folder, wanted) {
  return new Promise((resolve) => {
    const watch = fs.watch(folder, (_, name) => {
      if (name !== wanted) return;
      watch.close();
      resolve();
    });
  });
}
