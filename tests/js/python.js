/**
 * What the tests of the Python adapter share: `python -m dapkit.python`, talked to as VS Code would.
 *
 * Each test names the row of docs/reference/requests.md that it belongs to; what was answered and
 * heard in tests that passed is written to the file DAPKIT_REAL_CLIENT, which the table is made from.
 */
"use strict";

const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { ADAPTERS, adapterTest } = require("./helper.js");

const ORDERS = path.join(__dirname, "programs/orders.py");
const LINE = { inPrice: 6, comment: 12, loop: 13, call: 14, print: 15, fail: 18 };

/** A client that can do everything but open terminals. */
const CLIENT = {
  clientID: "tests",
  adapterID: "python",
  linesStartAt1: true,
  columnsStartAt1: true,
  pathFormat: "path",
  supportsVariableType: true,
  supportsVariablePaging: true,
  supportsMemoryReferences: true,
  supportsProgressReporting: true,
  supportsInvalidatedEvent: true,
  supportsMemoryEvent: true,
  supportsANSIStyling: true,
};

const seen = { requests: new Set(), events: new Set() };
const folders = [];

process.on("exit", () => {
  folders.forEach((folder) => fs.rmSync(folder, { recursive: true, force: true }));
  if (process.env.DAPKIT_REAL_CLIENT) {
    const line = { requests: [...seen.requests], events: [...seen.events] };
    fs.appendFileSync(process.env.DAPKIT_REAL_CLIENT, JSON.stringify(line) + "\n");
  }
});

/** Define a test of a row of the table of requests. */
function pythonTest(row, name, body) {
  adapterTest(`[${row}] ${name}`, ADAPTERS.python, async (client) => {
    const [requests, events] = [new Set(), new Set()];
    const { send, emit } = client;
    client.send = async (command, args) => {
      const response = await send.call(client, command, args);
      requests.add(command);
      return response;
    };
    client.emit = (event, ...rest) => {
      events.add(event);
      return emit.call(client, event, ...rest);
    };
    await body(client);
    requests.forEach((command) => seen.requests.add(command));
    events.forEach((event) => seen.events.add(event));
  });
}

/** Make a Python file; return its path, and the number of the line with each comment `# word`. */
function written(text) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "dapkit-js-"));
  folders.push(folder);
  const file = path.join(fs.realpathSync(folder), "prog.py");
  const lines = text.replace(/^\n/, "").split("\n");
  const indent = lines[0].match(/^ */)[0].length;
  const plain = lines.map((line) => line.slice(indent));
  fs.writeFileSync(file, plain.join("\n"));
  const marks = {};
  plain.forEach((line, index) => {
    const mark = line.match(/# (\w+)$/);
    if (mark) marks[mark[1]] = index + 1;
  });
  return { file, marks };
}

/** Launch with breakpoints, and return what the adapter says about them. */
async function launch(client, { breakpoints = [], filters = [], configure = async () => {}, ...configuration } = {}) {
  const program = "code" in configuration ? undefined : (configuration.program ?? ORDERS);
  const initialized = client.waitForEvent("initialized");
  await client.initializeRequest(CLIENT);
  const launched = client.launchRequest({ ...configuration, program });
  await initialized;
  const source = { path: program ?? ORDERS };
  const { body } = await client.setBreakpointsRequest({ source, breakpoints });
  await client.setExceptionBreakpointsRequest({ filters });
  await configure();
  await client.configurationDoneRequest();
  await launched;
  return body.breakpoints;
}

/** Launch, and return the first stop. */
async function launchToStop(client, configuration) {
  return nextStop(client, launch(client, configuration));
}

/** Launch a text, and stop in the line marked `# here`; return the stopped thread, the file, and the marked lines. */
async function stopHere(client, text, configuration = {}) {
  const { file, marks } = written(text);
  const { threadId } = await launchToStop(client, { program: file, breakpoints: [{ line: marks.here }], ...configuration });
  return { file, marks, threadId };
}

/** Send a request that sets the program going, and return the next stop. */
async function nextStop(client, request) {
  const [{ body }] = await Promise.all([client.waitForEvent("stopped"), request]);
  return body;
}

async function frames(client, args = {}) {
  return (await client.stackTraceRequest({ threadId: 1, ...args })).body.stackFrames;
}

async function topFrame(client, threadId = 1) {
  return (await frames(client, { threadId }))[0];
}

async function place(client) {
  const { name, line } = await topFrame(client);
  return `${name}:${line}`;
}

async function children(client, variablesReference, args = {}) {
  return (await client.variablesRequest({ variablesReference, ...args })).body.variables;
}

async function scopes(client) {
  return (await client.scopesRequest({ frameId: (await topFrame(client)).id })).body.scopes;
}

async function localRows(client) {
  return children(client, (await scopes(client))[0].variablesReference);
}

async function localRow(client, wanted) {
  return (await localRows(client)).find(({ name }) => name === wanted);
}

async function locals(client) {
  return Object.fromEntries((await localRows(client)).map(({ name, value }) => [name, value]));
}

async function evaluate(client, expression, args = {}) {
  const { id: frameId } = await topFrame(client);
  return (await client.evaluateRequest({ expression, frameId, context: "repl", ...args })).body;
}

function outputOf(client) {
  const all = { stdout: "", stderr: "", console: "" };
  client.on("output", ({ body }) => { all[body.category ?? "console"] += body.output; });
  return all;
}

/** Wait until the program has written a text to its standard output. */
function hasWritten(client, text) {
  let all = "";
  return new Promise((resolve) => {
    client.on("output", ({ body }) => {
      if (body.category === "stdout" && (all += body.output).includes(text)) resolve();
    });
  });
}

module.exports = {
  LINE, ORDERS, children, evaluate, frames, hasWritten, launch, launchToStop, localRow, localRows, locals, nextStop,
  outputOf, place, pythonTest, scopes, stopHere, topFrame, written,
};
