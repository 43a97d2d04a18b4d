/**
 * Starts an adapter for a test, as an editor would: a child process, messages on its standard streams.
 *
 * What is said to the adapter is the affair of the tests; here stand the commands that start
 * one, the deadlines, and the rule that an adapter ends by itself once it is disconnected.
 */
"use strict";

const assert = require("node:assert/strict");
const { spawn } = require("node:child_process");
const { once } = require("node:events");
const path = require("node:path");
const test = require("node:test");
const { DebugClient } = require("@vscode/debugadapter-testsupport");

const ROOT = path.resolve(__dirname, "../..");
const PYTHON = process.env.DAPKIT_TEST_PYTHON ?? path.join(ROOT, ".venv/bin/python");

const TEST_DEADLINE_MS = 60_000;
const EXIT_DEADLINE_MS = 20_000;

/** The command lines of the adapters under test. */
const ADAPTERS = {
  debugpy: [PYTHON, "-m", "debugpy.adapter"],
  mock: [PYTHON, path.join(ROOT, "examples/mock_adapter")],
  python: [PYTHON, "-m", "dapkit.python"],
};

/** DebugClient, with command lines of any length, and adapters whose end is noticed. */
class AdapterClient extends DebugClient {
  #command;
  #process = null;
  #exited; // resolves to the exit status or the name of the signal
  #closed; // the same, once everything that the adapter wrote has been read
  #stderr = "";
  #services = new Map(); // of requests that the adapter may make

  constructor(command, type = "test") {
    super(command[0], command[1], type);
    this.#command = command;
    this.defaultTimeout = 30_000;
  }

  /** Start the adapter; everything the test says goes to this process. */
  async start() {
    const [program, ...args] = this.#command;
    const adapter = spawn(program, args, { cwd: ROOT, stdio: ["pipe", "pipe", "pipe"] });
    const end = (event) => new Promise((resolve) => { adapter.once(event, (code, signal) => resolve(signal ?? code)); });
    [this.#exited, this.#closed] = [end("exit"), end("close")];
    adapter.stderr.setEncoding("utf8").on("data", (text) => { this.#stderr += text; });
    adapter.stdin.on("error", () => {}); // the exit status tells more than EPIPE
    await once(adapter, "spawn");
    this.#process = adapter;
    this.connect(adapter.stdout, adapter.stdin);
  }

  /** Introduce a client that shows types and memory. */
  initializeRequest(introduction = {}) {
    const usual = { adapterID: "test", linesStartAt1: true, columnsStartAt1: true, pathFormat: "path" };
    const able = { supportsVariableType: true, supportsMemoryReferences: true };
    return super.initializeRequest({ ...usual, ...able, ...introduction });
  }

  /** What the adapter has written to its standard error so far. */
  get stderr() {
    return this.#stderr;
  }

  /** The id of the adapter's process. */
  get pid() {
    return this.#process.pid;
  }

  /** Send a request; the promise fails if the adapter refuses, or ends without an answer. */
  send(command, args) {
    const gone = this.#closed.then((status) => {
      throw new Error(`the adapter ended (${status}) before it answered ${command}`);
    });
    return Promise.race([super.send(command, args), gone]);
  }

  /** Answer requests of the adapter with what a function makes of their arguments. */
  serve(command, service) {
    this.#services.set(command, service);
  }

  /** Take a message; DebugClient itself knows no requests of adapters. */
  dispatch(text) {
    const { type, seq, command, arguments: args } = JSON.parse(text);
    const service = type === "request" && this.#services.get(command);
    if (!service) return super.dispatch(text);
    const response = { seq: this.sequence++, type: "response", request_seq: seq, command, success: true, body: service(args) };
    const json = JSON.stringify(response);
    this.#process.stdin.write(`Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`);
  }

  /** Disconnect, close the input of the adapter, and see that it ends by itself, with one of these statuses. */
  async stop(statuses = [0]) {
    const deadline = setTimeout(() => this.kill(), EXIT_DEADLINE_MS);
    await this.disconnectRequest().catch(() => {}); // refused where the test has disconnected: the status tells
    this.#process.stdin.end();
    const status = await this.#exited;
    clearTimeout(deadline);
    const message = `the adapter should end by itself with status ${statuses.join(" or ")}, not ${status}, once it is disconnected`;
    assert.ok(statuses.includes(status), message);
  }

  /** End the adapter at once. */
  kill() {
    this.#process.kill("SIGKILL");
  }
}

/**
 * Define a test that has an adapter of its own.
 *
 *     adapterTest("stops on a breakpoint", ADAPTERS.mock, async (client) => { ... });
 */
function adapterTest(name, command, body, { timeout = TEST_DEADLINE_MS, statuses } = {}) {
  test(name, { timeout }, async ({ signal }) => {
    const client = new AdapterClient(command);
    await client.start();
    signal.addEventListener("abort", () => client.kill()); // the deadline has passed: a live adapter would hold up node
    try {
      await body(client);
    } catch (error) {
      await client.stop().catch(() => {}); // the first fault is the one to report
      throw explained(error, client);
    }
    await client.stop(statuses).catch((error) => { throw explained(error, client); });
  });
}

/** Add to an error what the adapter wrote to its standard error. */
function explained(error, client) {
  if (client.stderr) {
    error.message += `\nstderr of the adapter:\n${client.stderr}`;
  }
  return error;
}

module.exports = { ADAPTERS, AdapterClient, PYTHON, ROOT, adapterTest };
