/**
 * What the tests of the Python adapter share: `python -m dapkit.python`, talked to as VS Code would.
 *
 * Each test names the row of docs/reference/requests.md that it belongs to; what was answered and
 * heard in tests that passed is written to the file DAPKIT_REAL_CLIENT, which the table is made from.
 */
"use strict";

const { spawn } = require("node:child_process");
const { once } = require("node:events");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const readline = require("node:readline");
const { ADAPTERS, PYTHON, ROOT, adapterTest } = require("./helper.js");

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
const programs = []; // that the running test has started itself

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
    try {
      await body(client);
    } finally {
      programs.splice(0).forEach((program) => program.kill("SIGKILL"));
    }
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
async function launch(client, { can = {}, ...session } = {}) {
  await client.initializeRequest({ ...CLIENT, ...can });
  return begin(client, "launch", { program: "code" in session ? undefined : ORDERS, ...session });
}

/** Do the same with a program that runs already; `file` is where the breakpoints go. */
async function attach(client, { can = {}, ...session }) {
  await client.initializeRequest({ ...CLIENT, ...can });
  return begin(client, "attach", session);
}

async function begin(client, command, { breakpoints = [], filters = [], configure = async () => {}, file, ...configuration }) {
  const initialized = client.waitForEvent("initialized");
  const begun = client.send(command, configuration);
  await Promise.race([initialized, begun]); // a refusal comes without the event
  const source = { path: file ?? configuration.program ?? ORDERS };
  const { body } = await client.setBreakpointsRequest({ source, breakpoints });
  await client.setExceptionBreakpointsRequest({ filters });
  await configure();
  await client.configurationDoneRequest();
  await begun;
  return body.breakpoints;
}

/** Start a program that is not launched by an adapter; it is killed when the test is over. */
function started(text, ...args) {
  const { file, marks } = written(text);
  const env = { ...process.env, PYTHONPATH: path.join(ROOT, "src") };
  const program = spawn(PYTHON, [file, ...args], { cwd: path.dirname(file), env, stdio: ["ignore", "pipe", "pipe"] });
  programs.push(program);
  const lines = (stream) => readline.createInterface({ input: stream })[Symbol.asyncIterator]();
  const [output, errors] = [lines(program.stdout), lines(program.stderr)];
  return {
    file,
    marks,
    pid: program.pid,
    exit: once(program, "exit").then(([code, signal]) => signal ?? code),
    line: async () => (await output.next()).value,
    /** The port where it says that it listens. */
    port: async () => Number((await errors.next()).value.match(/:(\d+)/)[1]),
    /** Make the file `go`, which it waits for. */
    go: () => fs.writeFileSync(path.join(path.dirname(file), "go"), ""),
  };
}

/** Open the terminals that the adapter asks for: real ones; returns what was asked for and shown, and types. */
function terminal(client) {
  const opened = { asked: [], shown: "", type: () => {} };
  client.serve("runInTerminal", (asked) => {
    opened.asked.push(asked);
    const env = Object.fromEntries(Object.entries({ ...process.env, ...asked.env }).filter(([, value]) => value !== null));
    const open = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]))";
    const shell = spawn(PYTHON, ["-c", open, ...asked.args], { cwd: asked.cwd, env, stdio: ["pipe", "pipe", "ignore"] });
    programs.push(shell);
    shell.stdout.setEncoding("utf8").on("data", (text) => { opened.shown += text; client.emit("shown", opened); });
    opened.type = (text) => shell.stdin.write(text);
    return { processId: shell.pid };
  });
  opened.has = async (text) => { while (!opened.shown.includes(text)) await once(client, "shown"); };
  return opened;
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

/** Wait until the program has written a line to its standard output, which may come in pieces. */
function hasWritten(client, line) {
  let all = "";
  return new Promise((resolve) => {
    client.on("output", ({ body }) => {
      if (body.category === "stdout" && (all += body.output).includes(`${line}\n`)) resolve();
    });
  });
}

module.exports = {
  LINE, ORDERS, attach, children, evaluate, frames, hasWritten, launch, launchToStop, localRow, localRows, locals, nextStop,
  outputOf, place, pythonTest, scopes, started, stopHere, terminal, topFrame, written,
};
