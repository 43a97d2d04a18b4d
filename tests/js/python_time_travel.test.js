/** Microsoft's DebugClient against the Python adapter: back in time. */
"use strict";

const assert = require("node:assert/strict");
const { LINE, evaluate, launchToStop, nextStop, place, pythonTest } = require("./python.js");

pythonTest("stepBack, reverseContinue", "the program is shown as it was, and goes on from where it is", async (client) => {
  const capabilities = client.waitForEvent("capabilities");
  await launchToStop(client, { breakpoints: [{ line: LINE.print, condition: "number == 3" }], timeTravel: true });
  assert.equal((await capabilities).body.capabilities.supportsStepBack, true);
  assert.equal((await evaluate(client, "total")).result, "60");

  const step = await nextStop(client, client.stepBackRequest({ threadId: 1 }));
  assert.equal(`${step.reason} ${await place(client)}`, `step main:${LINE.call}`);
  assert.equal((await evaluate(client, "total")).result, "30");

  const start = await nextStop(client, client.reverseContinueRequest({ threadId: 1 }));
  assert.equal(`${start.reason} ${start.description}`, "entry Start of recorded history");

  const stop = await nextStop(client, client.continueRequest({ threadId: 1 }));
  assert.equal(`${stop.reason} ${await place(client)}`, `breakpoint main:${LINE.print}`);
  await Promise.all([client.waitForEvent("terminated"), client.continueRequest({ threadId: 1 })]);
});
