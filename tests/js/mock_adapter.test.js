/** Microsoft's own client against examples/mock_adapter: a debugger for Markdown, built on the SDK. */
"use strict";

const assert = require("node:assert/strict");
const path = require("node:path");
const { ADAPTERS, ROOT, adapterTest } = require("./helper.js");

const EXAMPLE = path.join(ROOT, "examples/mock_adapter");
const SHOPPING = path.join(EXAMPLE, "shopping.md");
const PAYING = path.join(EXAMPLE, "paying.md");
const BURNING = path.join(EXAMPLE, "burning.md");
const THREAD = { threadId: 1 };

const mockTest = (name, body) => adapterTest(name, ADAPTERS.mock, body);

/** Start a program that stops before its first line, for a client that shows progress. */
async function stopOnEntry(client) {
  await client.initializeRequest({ adapterID: "mock", supportsProgressReporting: true });
  await Promise.all([
    client.waitForEvent("initialized").then(() => client.configurationDoneRequest()),
    client.launchRequest({ program: SHOPPING, stopOnEntry: true }),
    client.waitForEvent("stopped"),
  ]);
}

/** Ask for something that sets the program going, and wait until it has stopped again. */
async function go(client, request) {
  const stopped = client.waitForEvent("stopped");
  await request();
  return (await stopped).body;
}

const next = (client) => go(client, () => client.nextRequest(THREAD));

async function topFrame(client) {
  const { body } = await client.stackTraceRequest(THREAD);
  return body.stackFrames[0];
}

async function variables(client) {
  const frame = await topFrame(client);
  const { body: { scopes } } = await client.scopesRequest({ frameId: frame.id });
  const { variablesReference } = scopes[0];
  const { body } = await client.variablesRequest({ variablesReference });
  return { variablesReference, byName: Object.fromEntries(body.variables.map((it) => [it.name, it])) };
}

mockTest("an unknown request produces an error", async (client) => {
  await client.initializeRequest();
  await assert.rejects(client.send("illegal_request"), /unsupported request: illegal_request/);
});

mockTest("initialize announces what is defined, and nothing else", async (client) => {
  const { body } = await client.initializeRequest();
  assert.equal(body.supportsConfigurationDoneRequest, true);
  assert.equal(body.supportsStepBack, true);
  assert.equal(body.supportsDataBreakpoints, true);
  assert.equal(body.supportsRestartFrame, undefined);
});

mockTest("a program runs to its end", async (client) => {
  await Promise.all([
    client.configurationSequence(),
    client.launch({ program: SHOPPING }),
    client.waitForEvent("terminated"),
  ]);
});

mockTest("a program stops on entry", async (client) => {
  await Promise.all([
    client.configurationSequence(),
    client.launch({ program: SHOPPING, stopOnEntry: true }),
    client.assertStoppedLocation("entry", { line: 5 }),
  ]);
});

mockTest("a program that does not exist cannot be launched", async (client) => {
  await client.initializeRequest();
  await assert.rejects(client.launchRequest({ program: "/no/such.md" }), /cannot read \/no\/such\.md/);
});

mockTest("a launch configuration with a wrong type is refused by its path", async (client) => {
  await client.initializeRequest();
  await assert.rejects(client.launchRequest({ program: 3 }), /\$\.arguments\.program/);
});

mockTest("output comes with its category and its line", async (client) => {
  const output = client.waitForEvent("output");
  await Promise.all([client.configurationSequence(), client.launch({ program: SHOPPING })]);
  const { body } = await output;
  assert.deepEqual([body.category, body.output, body.line], ["stdout", "going shopping\n", 6]);
});

mockTest("a breakpoint is hit", async (client) => {
  await client.hitBreakpoint({ program: SHOPPING }, { path: SHOPPING, line: 8 });
});

mockTest("a breakpoint on prose moves to the next line with code", async (client) => {
  const landed = { path: SHOPPING, line: 8 };
  await client.hitBreakpoint({ program: SHOPPING }, { path: SHOPPING, line: 7 }, landed, landed);
});

mockTest("a breakpoint in a file that is loaded later is verified then", async (client) => {
  const changed = client.waitForEvent("breakpoint");
  const pending = client.waitForEvent("initialized").then(async () => {
    const { body } = await client.setBreakpointsRequest({ source: { path: PAYING }, breakpoints: [{ line: 3 }] });
    await client.configurationDoneRequest();
    return body.breakpoints[0];
  });
  await Promise.all([client.launch({ program: SHOPPING }), client.assertStoppedLocation("breakpoint", { path: PAYING, line: 3 })]);
  assert.equal((await pending).verified, false);
  const { body } = await changed;
  assert.deepEqual([body.breakpoint.id, body.breakpoint.verified], [(await pending).id, true]);
});

mockTest("a condition decides whether a breakpoint stops", async (client) => {
  const breakpoints = [{ line: 8, condition: "apples == 4" }, { line: 13, condition: "apples == 3" }];
  client.waitForEvent("initialized").then(async () => {
    await client.setBreakpointsRequest({ source: { path: SHOPPING }, breakpoints });
    await client.configurationDoneRequest();
  });
  await Promise.all([
    client.launch({ program: SHOPPING }),
    client.assertStoppedLocation("breakpoint", { path: SHOPPING, line: 13 }),
  ]);
});

mockTest("a step over a call stays in its section", async (client) => {
  await client.hitBreakpoint({ program: SHOPPING }, { path: SHOPPING, line: 8 });
  assert.equal((await next(client)).reason, "step");
  assert.deepEqual([(await topFrame(client)).name, (await topFrame(client)).line], ["main", 9]);
});

mockTest("a step into a call can be aimed, and a step out comes back", async (client) => {
  await client.hitBreakpoint({ program: SHOPPING }, { path: SHOPPING, line: 8 });
  const { body } = await client.send("stepInTargets", { frameId: (await topFrame(client)).id });
  const target = body.targets.find(({ label }) => label === "paying.md#paying");
  await go(client, () => client.stepInRequest({ ...THREAD, targetId: target.id }));
  assert.equal((await topFrame(client)).name, "paying");
  await go(client, () => client.stepOutRequest(THREAD));
  assert.equal((await topFrame(client)).name, "main");
});

mockTest("a step back undoes what a line did", async (client) => {
  await stopOnEntry(client);
  await next(client);
  assert.deepEqual(Object.keys((await variables(client)).byName), ["apples", "basket"]);
  await go(client, () => client.stepBackRequest(THREAD));
  assert.equal((await topFrame(client)).line, 5);
});

mockTest("a program runs backwards to its beginning", async (client) => {
  await client.hitBreakpoint({ program: SHOPPING }, { path: SHOPPING, line: 9 });
  assert.equal((await go(client, () => client.reverseContinueRequest(THREAD))).reason, "entry");
});

mockTest("a data breakpoint stops where the variable is written", async (client) => {
  await stopOnEntry(client);
  await next(client);
  const { body: { dataId } } = await client.send("dataBreakpointInfo", { name: "apples" });
  await client.send("setDataBreakpoints", { breakpoints: [{ dataId, accessType: "write" }] });
  assert.equal((await go(client, () => client.continueRequest(THREAD))).reason, "data breakpoint");
  assert.equal((await variables(client)).byName.apples.value, "5");
});

mockTest("an exception stops the program and is explained", async (client) => {
  client.waitForEvent("initialized").then(async () => {
    await client.setExceptionBreakpointsRequest({ filters: [], filterOptions: [{ filterId: "raised", condition: "Burnt" }] });
    await client.configurationDoneRequest();
  });
  await go(client, () => client.launch({ program: BURNING, stopOnEntry: true }));
  await go(client, () => client.send("next", { ...THREAD, granularity: "instruction" }));
  await client.continueRequest(THREAD);  // it waits now, and what comes next pauses the wait
  await go(client, () => client.pauseRequest(THREAD));
  const stop = await go(client, () => client.continueRequest(THREAD));
  assert.deepEqual([stop.reason, stop.text], ["exception", "Burnt"]);
  assert.equal((await client.exceptionInfoRequest(THREAD)).body.exceptionId, "Burnt");
  const exited = client.waitForEvent("exited");
  await client.continueRequest(THREAD);
  assert.equal((await exited).body.exitCode, 1);
});

mockTest("a variable is set and evaluated", async (client) => {
  await stopOnEntry(client);
  await next(client);
  const { variablesReference } = await variables(client);
  await client.setVariableRequest({ variablesReference, name: "apples", value: "20 + 1" });
  assert.equal((await client.evaluateRequest({ expression: "apples * 2", context: "hover" })).body.result, "42");
});

mockTest("a reference of an earlier stop is refused", async (client) => {
  await stopOnEntry(client);
  const frame = await topFrame(client);
  await next(client);
  await assert.rejects(client.scopesRequest({ frameId: frame.id }), /frame \d+ belongs to stop 1; the program is at stop 2/);
});

mockTest("a long evaluation is cancelled and answered once", async (client) => {
  await stopOnEntry(client);
  const started = client.waitForEvent("progressStart").then(({ body }) => client.send("cancel", { requestId: body.requestId }));
  await assert.rejects(client.evaluateRequest({ expression: "count 100000" }), /cancelled/);
  await started;
  assert.equal((await client.threadsRequest()).body.threads.length, 1);
});

mockTest("a progress is cancelled by its id", async (client) => {
  await stopOnEntry(client);
  client.waitForEvent("progressStart").then(({ body }) => client.send("cancel", { progressId: body.progressId }));
  const ended = client.waitForEvent("progressEnd");
  assert.match((await client.evaluateRequest({ expression: "count 100000" })).body.result, /^counted to \d+$/);
  await ended;
});

mockTest("instructions are disassembled and take breakpoints", async (client) => {
  await stopOnEntry(client);
  const { body } = await client.send("disassemble", { memoryReference: "0x0", instructionCount: 3 });
  assert.equal(body.instructions[2].instruction, 'say "going shopping"');
  const instructionReference = body.instructions[2].address;
  await client.send("setInstructionBreakpoints", { breakpoints: [{ instructionReference }] });
  await go(client, () => client.continueRequest(THREAD));
  assert.equal((await topFrame(client)).instructionPointerReference, instructionReference);
});

mockTest("memory is read", async (client) => {
  await client.hitBreakpoint({ program: SHOPPING }, { path: SHOPPING, line: 9 });
  const { memoryReference } = (await variables(client)).byName.bought;
  const { body } = await client.send("readMemory", { memoryReference, offset: 0, count: 3 });
  assert.equal(Buffer.from(body.data, "base64").toString(), "yes");
});

mockTest("disconnect is answered while the program runs", async (client) => {
  await Promise.all([client.configurationSequence(), client.launch({ program: BURNING })]);
  await client.disconnectRequest();
});
