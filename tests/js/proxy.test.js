/** What a proxy does to a conversation of a real client with a real adapter. */
"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { PYTHON, ROOT, adapterTest } = require("./helper.js");

const PROGRAM = path.join(__dirname, "programs/countdown.py");
const TRANSCRIPT = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "proxy-")), "wire.jsonl");
const PROXY = [PYTHON, path.join(ROOT, "examples/edit_messages.py"), TRANSCRIPT];

adapterTest("a proxy edits what debugpy answers, and writes down both forms", PROXY, async (client) => {
  const terminated = client.waitForEvent("terminated");
  await client.hitBreakpoint({ program: PROGRAM, console: "internalConsole" }, { path: PROGRAM, line: 4 });
  const { body: { threads } } = await client.threadsRequest();
  const { body: { stackFrames } } = await client.stackTraceRequest({ threadId: threads[0].id });

  const { body } = await client.evaluateRequest({ expression: "'left'", frameId: stackFrames[0].id });
  assert.equal(body.result, "'LEFT'");
  assert.equal(body.type, "str"); // what was not edited is as debugpy has it

  await client.setBreakpointsRequest({ source: { path: PROGRAM }, breakpoints: [] });
  await client.continueRequest({ threadId: threads[0].id });
  await terminated;

  const lines = fs.readFileSync(TRANSCRIPT, "utf8").trim().split("\n").map(JSON.parse);
  const said = lines.filter(({ message }) => message?.command === "evaluate");
  assert.deepEqual(said.map(({ from, message }) => [from, message.body?.result]), [
    ["client", undefined], ["adapter", "'left'"], ["proxy", "'LEFT'"],
  ]);
});
