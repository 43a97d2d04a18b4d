import assert from "node:assert/strict";
import { test } from "node:test";

import * as configuration from "../src/configuration";

const AROUND: configuration.Surroundings = {
  file: "/shop/app.py",
  folder: "/shop",
  envFile: "/shop/.env",
  interpreter: () => Promise.resolve("/shop/.venv/bin/python"),
};
const WITHOUT_FOLDER: configuration.Surroundings = { interpreter: AROUND.interpreter };

test("a launch gets the interpreter, the folder, its environment and a terminal", async () => {
  const given = { type: "dapkit", request: "launch", name: "Shop", module: "shop" };
  assert.deepEqual(await configuration.completed(given, AROUND), {
    ...given,
    console: "integratedTerminal",
    cwd: "/shop",
    envFile: "/shop/.env",
    python: "/shop/.venv/bin/python",
  });
});

test("what a configuration says is kept", async () => {
  const given = { request: "launch", program: "a.py", console: "internalConsole", cwd: "/", envFile: "", python: "py" };
  assert.deepEqual(await configuration.completed(given, AROUND), given);
});

test("without a folder the adapter chooses where the program runs", async () => {
  const made = await configuration.completed({ request: "launch", program: "a.py" }, WITHOUT_FOLDER);
  assert.equal("cwd" in made || "envFile" in made, false);
});

test("a key that is null is left out, null inside of a value is kept", async () => {
  const given = { request: "launch", args: null, justMyCode: null, env: { HOME: null } };
  const made = await configuration.completed(given, AROUND);
  assert.equal("args" in made || "justMyCode" in made, false);
  assert.deepEqual(made["env"], { HOME: null });
});

test("the command for the selected interpreter needs no Python extension", async () => {
  const given = { request: "launch", pythonPath: "${command:python.interpreterPath}" };
  assert.equal((await configuration.completed(given, AROUND))["pythonPath"], "/shop/.venv/bin/python");
});

test("an attach configuration and that of a child process are left alone", async () => {
  const attach = { request: "attach", connect: { port: 5678 } };
  assert.deepEqual(await configuration.completed(attach, AROUND), attach);
  const child = { request: "attach", adapterSocket: "/run/a", subProcessId: 7, rules: null };
  assert.equal(await configuration.completed(child, AROUND), child);
});

test("the files of a job are looked for from the folder that is open", async () => {
  const given = { request: "attach", job: "ranks" };
  assert.deepEqual(await configuration.completed(given, AROUND), { ...given, cwd: "/shop" });
});

test("without a launch.json the current file is debugged", () => {
  assert.equal(configuration.isEmpty({}), true);
  assert.equal(configuration.isEmpty({ type: "dapkit", request: "launch", name: "Shop" }), false);
  assert.deepEqual(configuration.currentFile("/shop/app.py"), {
    type: "dapkit",
    request: "launch",
    name: "Current file",
    program: "/shop/app.py",
  });
});

test("a file of tests for pytest is run by pytest, and any other file by itself", () => {
  const tests = "import shop\n\ndef test_price():\n    assert shop.price(1) == 2\n";
  assert.deepEqual(configuration.currentFile("/shop/test_app.py", tests), {
    type: "dapkit",
    request: "launch",
    name: "Tests of the current file",
    module: "pytest",
    args: ["/shop/test_app.py"],
    justMyCode: true,
  });
  assert.equal(configuration.currentFile("/shop/app_test.py", tests)["module"], "pytest");
  const runsItself = `${tests}\nif __name__ == "__main__":\n    test_price()\n`;
  for (const [file, text] of [
    ["/shop/app.py", tests],
    ["/shop/test_app.py", runsItself],
    ["/shop/test_app.py", "import unittest\n"],
  ] as const) {
    assert.equal(configuration.currentFile(file, text)["program"], file);
  }
});

test("a recording is opened by its file", () => {
  assert.deepEqual(configuration.recording("/shop/app-1.dapkit"), {
    type: "dapkit",
    request: "launch",
    name: "Recording app-1.dapkit",
    replay: "/shop/app-1.dapkit",
  });
});

test("entries for debugpy are offered under their names, unchanged but for the type", () => {
  const flask = { type: "debugpy", request: "launch", name: "Flask", module: "flask", jinja: true };
  const made = configuration.offered([flask, { type: "node", request: "launch", name: "Page" }]);
  assert.deepEqual(made, [{ ...flask, type: "dapkit", name: "Flask (dapkit)" }]);
});

test("the port of a server is kept from the editor", () => {
  const given = { type: "dapkit", debugServer: 4711 };
  assert.deepEqual(configuration.withOwnServer(given), { type: "dapkit", __debugServer: 4711 });
  assert.deepEqual(configuration.withOwnServer({ type: "dapkit" }), { type: "dapkit" });
});

test("the interpreter may have arguments, and older names", () => {
  assert.equal(configuration.interpreterOf({ python: ["/bin/python3", "-X", "dev"] }), "/bin/python3");
  assert.equal(configuration.interpreterOf({ pythonPath: "/bin/python3" }), "/bin/python3");
  assert.equal(configuration.interpreterOf({ debugAdapterPython: "/a", python: "/b" }), "/a");
  assert.equal(configuration.interpreterOf({ request: "attach" }), undefined);
});
