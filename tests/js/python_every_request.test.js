/**
 * Microsoft's DebugClient against the Python adapter: every request of the schema, stopped and running, with
 * arguments that are right, wrong and missing. Each is answered, and what comes after is answered too.
 */
"use strict";

const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const path = require("node:path");
const { ADAPTERS, PYTHON, adapterTest } = require("./helper.js");
const { launch, written } = require("./python.js");

const SAMPLES = JSON.parse(execFileSync(PYTHON, [path.join(__dirname, "samples.py")], { maxBuffer: 1 << 24 }));
const ENDING = ["terminate", "disconnect", "restart"];
const RESUMING = ["continue", "next", "stepIn", "stepOut"];
const STOPPING = ["next", "stepIn", "stepOut", "goto", "restartFrame", "pause"];

/** A program that can be stopped in `work` and set going. */
class Debugged {
  constructor(client) {
    this.client = client;
    this.stopped = false;
    this.wake = () => {};
    client.on("stopped", () => { this.stopped = true; this.wake(); });
    client.on("continued", () => { this.stopped = false; });
  }

  async start() {
    const { file, marks } = written(`
      import time
      data = bytearray(b"abc")
      def work(n):
          total = n + len(data)  # here
          return total
      while True:
          work(1)
          time.sleep(0.001)
    `);
    [this.source, this.line] = [{ path: file }, marks.here];
    await launch(this.client, { program: file });
  }

  /** Send a request, and wait for the stop that it leads to, if it does. */
  async ask(command, args) {
    const before = this.stopped;
    const stops = STOPPING.includes(command) && !(before && command === "pause");
    if (stops || RESUMING.includes(command)) this.stopped = false; // a stop may be told before we go on from here
    try {
      await this.client.send(command, args);
    } catch ({ message }) {
      this.stopped = before;
      assert.ok(message, `${command} was refused without a word`);
      assert.doesNotMatch(message, /internal error/);
      return;
    }
    if (stops) await this.#untilStopped();
  }

  /** Have the program stand at the breakpoint. */
  async stop() {
    const stopped = this.stopped;
    await this.#breakAt([{ line: this.line }]);
    if (stopped) await this.#continue();
    await this.#untilStopped();
  }

  /** Have the program run, with nothing that would stop it. */
  async run() {
    await this.#breakAt([]);
    if (this.stopped) await this.#continue();
  }

  async #breakAt(breakpoints) {
    await this.client.setBreakpointsRequest({ source: this.source, breakpoints });
  }

  /** Go on; what stops the program from now on is a new stop. */
  async #continue() {
    this.stopped = false;
    await this.client.continueRequest({ threadId: 1 });
  }

  #untilStopped() {
    return new Promise((resolve) => {
      this.wake = resolve;
      if (this.stopped) resolve();
    });
  }

  /** Return arguments that name what is there at this stop; each request takes those that it knows. */
  async right() {
    const [frame] = (await this.client.stackTraceRequest({ threadId: 1 })).body.stackFrames;
    const [scope] = (await this.client.scopesRequest({ frameId: frame.id })).body.scopes;
    const data = await this.client.evaluateRequest({ expression: "data", frameId: frame.id });
    const { body: { targets } } = await this.client.send("gotoTargets", { source: this.source, line: this.line });
    return {
      threadId: 1, threadIds: [1], frameId: frame.id, variablesReference: scope.variablesReference,
      memoryReference: data.body.memoryReference, targetId: targets[0].id, source: this.source, line: this.line, column: 1,
      expression: "n + 1", name: "n", value: "2", text: "da", data: "QUJD", count: 2, instructionCount: 2,
      breakpoints: [], filters: [], sourceReference: 0, locationReference: 1, requestId: 1, adapterID: "python",
    };
  }

  /** Ask one command in every way, in the same state each time. */
  async check(command, ready) {
    const { legal, illegal } = SAMPLES[command];
    await this.stop();
    const ways = ENDING.includes(command) ? [] : [await this.right(), ...legal, undefined];
    for (const args of ways) {
      await ready();
      await this.ask(command, args);
    }
    await ready();
    const refusals = await Promise.all([...illegal, [1], "text"].map((args) => this.#refused(command, args)));
    assert.ok(refusals.every(Boolean), `${command} took illegal arguments`);
    assert.equal((await this.client.threadsRequest()).success, true);
  }

  async #refused(command, args) {
    try {
      await this.client.send(command, args);
      return false;
    } catch ({ message }) {
      return Boolean(message);
    }
  }
}

for (const state of ["stopped", "running"]) {
  adapterTest(`every request is answered while the program is ${state}`, ADAPTERS.python, async (client) => {
    const debugged = new Debugged(client);
    await debugged.start();
    for (const command of Object.keys(SAMPLES)) {
      await debugged.check(command, () => (state === "stopped" ? debugged.stop() : debugged.run()));
    }
    await debugged.stop();
    debugged.stopped = false; // the new program may come to the breakpoint before we go on from here
    await client.send("restart");
    await debugged.stop();
  }, { timeout: 120_000 }); // a thousand requests
}
