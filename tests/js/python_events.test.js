/** Microsoft's DebugClient against the Python adapter: events that nothing else in these tests provokes. */
"use strict";

const assert = require("node:assert/strict");
const {
  evaluate, launch, nextStop, outputOf, place, pythonTest, stopHere, topFrame, written,
} = require("./python.js");

const STOPPED = "x = 1  # here\n";

pythonTest("continue, pause", "a stop inside an evaluation tells that the program went on from the stop before", async (client) => {
  const { file, threadId } = await stopHere(client, `
    def called():
        return 1  # inside
    x = 1  # here
  `);
  await client.setBreakpointsRequest({ source: { path: file }, breakpoints: [{ line: 2 }] });
  const told = [];
  for (const event of ["continued", "stopped"]) client.on(event, ({ body }) => told.push([event, body.threadId]));
  const { id: frameId } = await topFrame(client);
  const stopped = client.waitForEvent("stopped");
  const evaluated = client.evaluateRequest({ expression: "called()", frameId, context: "repl" });
  await stopped;
  assert.equal(await place(client), "called:2");
  assert.deepEqual(told, [["continued", threadId], ["stopped", threadId]]);
  await nextStop(client, client.continueRequest({ threadId }));
  assert.equal((await evaluated).body.result, "1");
});

pythonTest("restart, terminate, disconnect", "a program that is to end tells that it went on from its stop", async (client) => {
  const { threadId } = await stopHere(client, STOPPED);
  const [{ body }] = await Promise.all([
    client.waitForEvent("continued"), client.waitForEvent("terminated"), client.terminateRequest(),
  ]);
  assert.deepEqual(body, { threadId, allThreadsContinued: true });
});

pythonTest("launch", "without debugging the adapter can do less, and after a restart with it everything again", async (client) => {
  const { file } = written("import time\ntime.sleep(60)\n");
  const [{ body: { capabilities } }] = await Promise.all([
    client.waitForEvent("capabilities"), launch(client, { program: file, noDebug: true }),
  ]);
  assert.equal(capabilities.supportsStepInTargetsRequest, false);
  await assert.rejects(client.send("stepInTargets", { frameId: 1 }), /supportsStepInTargetsRequest was not announced/);
  const [{ body: { capabilities: again } }] = await Promise.all([
    client.waitForEvent("capabilities"), client.send("restart", { arguments: { program: file } }),
  ]);
  assert.deepEqual(Object.keys(again), Object.keys(capabilities));
  assert.ok(Object.values(again).every((able) => able === true));
});

pythonTest("cancel, progress", "a long evaluation is shown as a progress, and cancelled by its id", async (client) => {
  await stopHere(client, STOPPED);
  const events = [];
  for (const event of ["progressStart", "progressUpdate", "progressEnd"]) {
    client.on(event, ({ body }) => events.push([event, body.progressId]));
  }
  const started = client.waitForEvent("progressStart");
  const updated = client.waitForEvent("progressUpdate");
  const { id: frameId } = await topFrame(client);
  const asleep = client.evaluateRequest({ expression: "__import__('time').sleep(60)", frameId, context: "repl" });
  const refused = assert.rejects(asleep, /cancelled/);
  const requestId = client.sequence - 1;
  const { body: { progressId, cancellable, title, ...more } } = await started;
  assert.deepEqual([cancellable, title, more.requestId], [true, "Evaluating", requestId]);
  assert.match((await updated).body.message, /^\d+ s$/);
  await client.send("cancel", { progressId });
  await refused;
  assert.deepEqual(events[0], ["progressStart", progressId]);
  assert.deepEqual(events.at(-1), ["progressEnd", progressId]);
  assert.equal((await evaluate(client, "1 + 1")).result, "2");
});

pythonTest("launch", "colours that a program writes come as they are", async (client) => {
  const output = outputOf(client);
  const { file } = written("print('\\x1b[31mred\\x1b[0m')\n");
  await Promise.all([client.waitForEvent("terminated"), launch(client, { program: file })]);
  assert.equal(output.stdout, "\x1b[31mred\x1b[0m\n");
});
