/** The same adapter on dapkit and on Microsoft's library for TypeScript, which docs/explanation/typescript.md compares. */
"use strict";

const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { after, before } = require("node:test");
const { PYTHON, ROOT, adapterTest } = require("./helper.js");

const EXAMPLE = path.join(ROOT, "examples/line_adapter");
const MODULES = path.join(__dirname, "node_modules"); // where the compiler and the compiled module find theirs
const BUILD = fs.mkdtempSync(path.join(MODULES, ".line-adapter-"));
const THREAD = { threadId: 1 };
const PROGRAM = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "line-adapter-")), "text.txt");

const BOTH = {
  Python: [PYTHON, path.join(EXAMPLE, "line_adapter.py")],
  TypeScript: [process.execPath, path.join(BUILD, "line_adapter.js")],
};

before(() => {
  fs.writeFileSync(PROGRAM, "one\ntwo\nthree\nfour\n");
  for (const name of ["line_adapter.ts", "tsconfig.json"]) fs.copyFileSync(path.join(EXAMPLE, name), path.join(BUILD, name));
  execFileSync(process.execPath, [path.join(MODULES, "typescript/bin/tsc"), "-p", BUILD], { encoding: "utf8" });
});

after(() => {
  fs.rmSync(BUILD, { recursive: true });
  fs.rmSync(path.dirname(PROGRAM), { recursive: true });
});

/** Stop before the first line, with a breakpoint on the third. */
async function stopOnEntry(client) {
  await client.initializeRequest({ adapterID: "lines" });
  const configured = client.waitForEvent("initialized").then(async () => {
    const { body } = await client.setBreakpointsRequest({ source: { path: PROGRAM }, breakpoints: [{ line: 3 }, { line: 9 }] });
    assert.deepEqual(body.breakpoints.map((it) => [it.verified, it.line]), [[true, 3], [false, 9]]);
    await client.configurationDoneRequest();
  });
  await Promise.all([configured, client.launchRequest({ program: PROGRAM, stopOnEntry: true }), stopped(client, "entry")]);
}

async function stopped(client, reason) {
  const { body } = await client.waitForEvent("stopped");
  assert.deepEqual([body.reason, body.threadId], [reason, 1]);
}

async function topFrame(client) {
  const { body: { stackFrames: [frame] } } = await client.stackTraceRequest(THREAD);
  return frame;
}

for (const [language, command] of Object.entries(BOTH)) {
  adapterTest(`a text file is stepped through by the adapter in ${language}`, command, async (client) => {
    await stopOnEntry(client);
    await Promise.all([stopped(client, "step"), client.nextRequest(THREAD)]);
    assert.equal((await topFrame(client)).line, 2);
    await Promise.all([stopped(client, "breakpoint"), client.continueRequest(THREAD)]);
    const frame = await topFrame(client);
    assert.deepEqual([frame.line, frame.source.path], [3, PROGRAM]);
    const { body: { scopes: [scope] } } = await client.scopesRequest({ frameId: frame.id });
    const { body: { variables } } = await client.variablesRequest({ variablesReference: scope.variablesReference });
    assert.deepEqual(variables.map((it) => [it.name, it.value]), [["line", "3"], ["text", "'three'"]]);
    const { body: { result } } = await client.evaluateRequest({ expression: "text", frameId: frame.id });
    assert.equal(result, "'three'");
    await Promise.all([client.waitForEvent("terminated"), client.stepOutRequest(THREAD)]);
  });
}

adapterTest("the adapter in Python refuses a frame of an earlier stop", BOTH.Python, async (client) => {
  const ofEarlierStop = await frameOfEarlierStop(client);
  await assert.rejects(client.scopesRequest({ frameId: ofEarlierStop }), /belongs to stop 1; the program is at stop 2/);
});

adapterTest("the adapter in TypeScript takes a frame of an earlier stop for one of this", BOTH.TypeScript, async (client) => {
  const ofEarlierStop = await frameOfEarlierStop(client);
  assert.ok((await client.scopesRequest({ frameId: ofEarlierStop })).success);
});

async function frameOfEarlierStop(client) {
  await stopOnEntry(client);
  const { id } = await topFrame(client);
  await Promise.all([stopped(client, "step"), client.nextRequest(THREAD)]);
  await topFrame(client);
  return id;
}

adapterTest("the adapter in Python checks the types of what a launch says", BOTH.Python, async (client) => {
  await client.initializeRequest();
  await assert.rejects(
    client.launchRequest({ program: PROGRAM, stopOnEntry: "yes" }),
    /arguments\.stopOnEntry: expected true or false, got 'yes'/,
  );
});

adapterTest("the adapter in TypeScript takes what a launch says", BOTH.TypeScript, async (client) => {
  await client.initializeRequest();
  assert.ok((await client.launchRequest({ program: PROGRAM, stopOnEntry: "yes" })).success);
});
