/** Microsoft's DebugClient against `python -m dapkit.python`, as VS Code would talk to it. */
"use strict";

const assert = require("node:assert/strict");
const path = require("node:path");
const { ADAPTERS, adapterTest } = require("./helper.js");

const PROGRAM = path.join(__dirname, "programs/orders.py");
const LINE = { inPrice: 6, comment: 12, loop: 13, call: 14, print: 15, fail: 18 };

const pythonTest = (name, body) => adapterTest(name, ADAPTERS.python, body);

/** Launch with breakpoints, and return what the adapter says about them. */
async function launch(client, { breakpoints = [], filters = [], ...configuration } = {}) {
  const initialized = client.waitForEvent("initialized");
  await client.initializeRequest();
  const launched = client.launchRequest({ program: PROGRAM, ...configuration });
  await initialized;
  const { body } = await client.setBreakpointsRequest({ source: { path: PROGRAM }, breakpoints });
  await client.setExceptionBreakpointsRequest({ filters });
  await client.configurationDoneRequest();
  await launched;
  return body.breakpoints;
}

/** Launch, and return the first stop. */
async function launchToStop(client, configuration) {
  const stopped = client.waitForEvent("stopped");
  await launch(client, configuration);
  return (await stopped).body;
}

/** Send a request that sets the program going, and return the next stop. */
async function nextStop(client, request) {
  const stopped = client.waitForEvent("stopped");
  await request;
  return (await stopped).body;
}

async function frames(client) {
  return (await client.stackTraceRequest({ threadId: 1 })).body.stackFrames;
}

async function place(client) {
  const [{ name, line }] = await frames(client);
  return `${name}:${line}`;
}

async function locals(client) {
  const [top] = await frames(client);
  const { body: { scopes } } = await client.scopesRequest({ frameId: top.id });
  const { body: { variables } } = await client.variablesRequest({ variablesReference: scopes[0].variablesReference });
  return Object.fromEntries(variables.map(({ name, value }) => [name, value]));
}

function outputOf(client) {
  const written = { stdout: "", stderr: "", console: "" };
  client.on("output", ({ body }) => { written[body.category ?? "console"] += body.output; });
  return written;
}

pythonTest("initialize tells what the adapter can do", async (client) => {
  const { body } = await client.initializeRequest();
  assert.equal(body.supportsConfigurationDoneRequest, true);
  assert.equal(body.supportsConditionalBreakpoints, true);
  assert.equal(body.supportsHitConditionalBreakpoints, true);
  assert.equal(body.supportsLogPoints, true);
  assert.equal(body.supportsExceptionInfoRequest, true);
  assert.equal(body.supportsTerminateRequest, true);
  assert.ok(!body.supportsStepBack);
  assert.deepEqual(body.exceptionBreakpointFilters.map(({ filter }) => filter), ["raised", "uncaught", "userUnhandled"]);
});

pythonTest("an unknown request is refused", async (client) => {
  await client.initializeRequest();
  await assert.rejects(client.send("illegalRequest"), /illegalRequest/);
});

pythonTest("a program runs to its end and tells its exit code", async (client) => {
  const written = outputOf(client);
  const ended = Promise.all([client.waitForEvent("exited"), client.waitForEvent("terminated")]);
  await launch(client);
  const [{ body: { exitCode } }] = await ended;
  assert.equal(exitCode, 4);
  assert.equal(written.stdout, "order 0\norder 1\norder 2\norder 3\norder 4\n");
  assert.equal(written.stderr, "to stderr\n");
});

pythonTest("a program that does not exist is refused by its name", async (client) => {
  await client.initializeRequest();
  await assert.rejects(client.launchRequest({ program: "/nowhere/missing.py" }), /missing\.py/);
});

pythonTest("stopOnEntry stops before the first line", async (client) => {
  const stop = await launchToStop(client, { stopOnEntry: true });
  assert.equal(stop.reason, "entry");
  assert.equal(await place(client), "<module>:1");
});

pythonTest("a breakpoint stops", async (client) => {
  await client.hitBreakpoint({ program: PROGRAM }, { path: PROGRAM, line: LINE.inPrice });
});

pythonTest("a breakpoint on a line without code moves to the next that has some", async (client) => {
  const stopped = client.waitForEvent("stopped");
  const [breakpoint] = await launch(client, { breakpoints: [{ line: LINE.comment }] });
  assert.equal(breakpoint.verified, true);
  assert.equal(breakpoint.line, LINE.loop);
  assert.deepEqual((await stopped).body.hitBreakpointIds, [breakpoint.id]);
});

pythonTest("a conditional breakpoint stops where the condition holds", async (client) => {
  await launchToStop(client, { breakpoints: [{ line: LINE.call, condition: "number == 3" }] });
  assert.equal((await locals(client)).number, "3");
});

pythonTest("a condition with a syntax error is refused with the error", async (client) => {
  const [breakpoint] = await launch(client, { breakpoints: [{ line: LINE.call, condition: "number ==" }] });
  assert.equal(breakpoint.verified, false);
  assert.match(breakpoint.message, /invalid syntax/);
});

pythonTest("a hit condition stops at that hit", async (client) => {
  await launchToStop(client, { breakpoints: [{ line: LINE.call, hitCondition: "2" }] });
  assert.equal((await locals(client)).number, "1");
});

pythonTest("a log message is written without a stop", async (client) => {
  const written = outputOf(client);
  const terminated = client.waitForEvent("terminated");
  await launch(client, { breakpoints: [{ line: LINE.print, logMessage: "total is {total}" }] });
  await terminated;
  assert.deepEqual(written.console.trim().split("\n").slice(0, 3), ["total is 0", "total is 10", "total is 30"]);
});

pythonTest("the stack has names, lines and sources", async (client) => {
  await launchToStop(client, { breakpoints: [{ line: LINE.inPrice }] });
  const stack = await frames(client);
  assert.deepEqual(stack.map(({ name, line }) => `${name}:${line}`), ["price:6", "main:14", "<module>:22"]);
  assert.ok(stack.every(({ source }) => source.path === PROGRAM));
});

pythonTest("scopes and variables show the values of a frame", async (client) => {
  await launchToStop(client, { breakpoints: [{ line: LINE.inPrice, condition: "count == 2" }] });
  const [top] = await frames(client);
  const { body: { scopes } } = await client.scopesRequest({ frameId: top.id });
  assert.deepEqual(scopes.map(({ name }) => name), ["Locals", "Globals"]);
  assert.deepEqual(await locals(client), { count: "2", each: "10", total: "20" });
});

pythonTest("evaluate sees the frame, and fails with the error of the expression", async (client) => {
  await launchToStop(client, { breakpoints: [{ line: LINE.inPrice, condition: "count == 2" }] });
  const [top] = await frames(client);
  const { body: { result } } = await client.evaluateRequest({ expression: "total + 1", frameId: top.id, context: "watch" });
  assert.equal(result, "21");
  await assert.rejects(client.evaluateRequest({ expression: "missing", frameId: top.id, context: "watch" }), /NameError/);
});

pythonTest("next, stepIn and stepOut go where they should", async (client) => {
  await launchToStop(client, { breakpoints: [{ line: LINE.call }] });
  const steps = [];
  for (const step of ["stepIn", "next", "stepOut", "next"]) {
    const stop = await nextStop(client, client.send(step, { threadId: 1 }));
    steps.push(`${stop.reason} ${step} ${await place(client)}`);
  }
  assert.deepEqual(steps, ["step stepIn price:5", "step next price:6", "step stepOut main:14", "step next main:15"]);
});

pythonTest("pause stops a running program, and continue lets it go on", async (client) => {
  const ready = client.waitForEvent("output");
  await launch(client, { program: undefined, code: "print('ready', flush=True)\nwhile True: pass" });
  await ready;
  for (const _ of [1, 2]) {
    const stop = await nextStop(client, client.pauseRequest({ threadId: 1 }));
    assert.equal(stop.reason, "pause");
    await client.continueRequest({ threadId: 1 });
  }
});

pythonTest("threads lists the threads of the program", async (client) => {
  await launchToStop(client, { breakpoints: [{ line: LINE.call }] });
  assert.deepEqual((await client.threadsRequest()).body.threads, [{ id: 1, name: "MainThread" }]);
});

pythonTest("an uncaught exception stops, and exceptionInfo tells about it", async (client) => {
  const stop = await launchToStop(client, { args: ["--fail"], filters: ["uncaught"] });
  const { body } = await client.exceptionInfoRequest({ threadId: 1 });
  assert.equal(stop.reason, "exception");
  assert.equal(await place(client), `main:${LINE.fail}`);
  assert.equal(body.exceptionId, "ZeroDivisionError");
  assert.equal(body.breakMode, "unhandled");

  const exited = client.waitForEvent("exited");
  await client.continueRequest({ threadId: 1 });
  assert.equal((await exited).body.exitCode, 1);
});

pythonTest("a raised exception stops although it is caught", async (client) => {
  const code = "try:\n    int('x')\nexcept ValueError:\n    pass\n";
  const stop = await launchToStop(client, { program: undefined, code, filters: ["raised"] });
  assert.deepEqual([stop.reason, stop.text], ["exception", "ValueError"]);
});

pythonTest("terminate lets the program clean up", async (client) => {
  const written = outputOf(client);
  const ready = client.waitForEvent("output");
  const code = "import time\ntry:\n    print('ready')\n    time.sleep(60)\nfinally:\n    print('cleaned up')\n";
  await launch(client, { program: undefined, code });
  await ready;
  const ended = Promise.all([client.waitForEvent("exited"), client.waitForEvent("terminated")]);
  await client.terminateRequest();
  const [{ body: { exitCode } }] = await ended;
  assert.equal(written.stdout, "ready\ncleaned up\n");
  assert.equal(exitCode, 130);
});

pythonTest("breakpoints are replaced while the program is stopped", async (client) => {
  await launchToStop(client, { breakpoints: [{ line: LINE.call }] });
  await client.setBreakpointsRequest({ source: { path: PROGRAM }, breakpoints: [{ line: LINE.print }] });
  await nextStop(client, client.continueRequest({ threadId: 1 }));
  assert.equal(await place(client), `main:${LINE.print}`);
  await nextStop(client, client.continueRequest({ threadId: 1 }));
  assert.equal(await place(client), `main:${LINE.print}`);
});
