/** The harness itself, tried on an adapter that is known to work. */
"use strict";

const assert = require("node:assert/strict");
const path = require("node:path");
const { ADAPTERS, adapterTest } = require("./helper.js");

const PROGRAM = path.join(__dirname, "programs/countdown.py");

adapterTest("a program stops on a breakpoint, shows its variables and runs to its end", ADAPTERS.debugpy, async (client) => {
  const terminated = client.waitForEvent("terminated");
  const exited = client.waitForEvent("exited");
  await client.hitBreakpoint({ program: PROGRAM, console: "internalConsole" }, { path: PROGRAM, line: 4 });
  const { body: { threads } } = await client.threadsRequest();
  const { body: { stackFrames } } = await client.stackTraceRequest({ threadId: threads[0].id });
  const { body: { scopes } } = await client.scopesRequest({ frameId: stackFrames[0].id });
  const { body: { variables } } = await client.variablesRequest({ variablesReference: scopes[0].variablesReference });
  assert.deepEqual(variables.map(({ name, value }) => `${name}=${value}`), ["left=3", "start=3"]);

  await client.setBreakpointsRequest({ source: { path: PROGRAM }, breakpoints: [] });
  await client.continueRequest({ threadId: threads[0].id });

  assert.equal((await exited).body.exitCode, 0);
  await terminated;
}, { statuses: [0, 1] }); // a fault while debugpy ends, which it takes for fatal, makes it 1 (adapter/sessions.py)
