import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs/promises";
import * as os from "node:os";
import * as path from "node:path";
import { after, before, test } from "node:test";

import { adapterCommand, type AdapterOptions } from "../src/adapter-command";
import { chosenInterpreter } from "../src/interpreter";
import { interpreterNames, isPath, needsLinux, programFile } from "../src/platform";
import { Problem } from "../src/problem";
import { processesOf } from "../src/processes";
import { isOfUser } from "../src/programs";
import { transcriptFile } from "../src/transcript";

let folder: string;

before(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), "dapkit-extension-"));
});

after(() => fs.rm(folder, { recursive: true }));

/** Write a program that prints a text. */
async function program(name: string, text: string): Promise<string> {
  const file = path.join(folder, name);
  await fs.mkdir(path.dirname(file), { recursive: true });
  await fs.writeFile(file, `#!/bin/sh\necho "${text}"\n`, { mode: 0o755 });
  return file;
}

function options(changes: Partial<AdapterOptions> = {}): AdapterOptions {
  const interpreter = () => program("python", "cpython 3 13 0");
  return { bundled: "/extension/bundled", configured: [], oldest: "0.1.0", interpreter, ...changes };
}

test("a setting comes before the selected interpreter, that before an environment of the folder", async () => {
  const environment = await program(".venv/bin/python", "");
  const selected = () => Promise.resolve<string | undefined>("/selected");
  assert.equal(await chosenInterpreter({ setting: "/set", folder, selected }), "/set");
  assert.equal(await chosenInterpreter({ setting: "", folder, selected }), "/selected");
  const nothing = () => Promise.resolve(undefined);
  assert.equal(await chosenInterpreter({ setting: "", folder, selected: nothing }), environment);
});

test("an environment of Windows has its interpreter in Scripts", async () => {
  const project = path.join(folder, "of-windows");
  await program("of-windows/.venv/bin/python", "");
  const interpreter = await program("of-windows/.venv/Scripts/python.exe", "");
  const choices = { setting: "", folder: project, selected: () => Promise.resolve(undefined), isWindows: true };
  assert.equal(await chosenInterpreter(choices), interpreter);
});

test("programs and paths are named as their system has them", () => {
  assert.deepEqual(
    ["python", "python.exe"].map((name) => programFile(name, true)),
    ["python.exe", "python.exe"],
  );
  assert.equal(programFile("python", false), "python");
  const texts = ["python", "C:\\Python\\python.exe", ".venv\\python.exe", "./python"];
  assert.deepEqual(
    texts.map((text) => isPath(text, true)),
    [false, true, true, true],
  );
  assert.deepEqual(
    texts.map((text) => isPath(text, false)),
    [false, false, false, true],
  );
  assert.deepEqual([interpreterNames(true)[0], interpreterNames(false)[0]], ["python", "python3"]);
});

test("features that need Linux say so elsewhere", () => {
  assert.equal(needsLinux("Recording a run", "linux"), undefined);
  assert.equal(needsLinux("Recording a run", "win32"), "Recording a run needs Linux.");
  assert.equal(needsLinux("Recording a run", "darwin"), "Recording a run needs Linux.");
});

test("an environment of another user is not taken", { skip: process.getuid?.() !== 0 }, async () => {
  const project = path.join(folder, "shared");
  const environment = path.join(project, ".venv");
  const interpreter = await program("shared/.venv/bin/python", "");
  const choices = { setting: "", folder: project, selected: () => Promise.resolve(undefined) };
  assert.equal(await chosenInterpreter(choices), interpreter);
  assert.equal(await isOfUser(interpreter), true);
  for (const place of [environment, path.dirname(interpreter), interpreter]) {
    await fs.chown(place, 65534, 65534);
    assert.equal(await isOfUser(place), false);
    assert.notEqual(await chosenInterpreter(choices), interpreter);
    await fs.chown(place, 0, 0);
  }
  assert.equal(await isOfUser(path.join(folder, "missing")), false);
});

test("the bundled adapter is run by the interpreter of the program", async () => {
  const python = await program("other/python", "cpython 3 12 1");
  assert.deepEqual(await adapterCommand({ python }, options()), [python, "-I", "/extension/bundled"]);
  const relative = { python: ["other/python", "-X", "dev"], cwd: folder };
  assert.deepEqual(await adapterCommand(relative, options()), [python, "-I", "/extension/bundled"]);
});

test("a server is reached by the bundled dapkit, which knows its token", async () => {
  const command = await adapterCommand({ request: "attach", __debugServer: 4711 }, options());
  assert.deepEqual(command.slice(1), ["-I", "/extension/bundled", "proxy", "--connect", "127.0.0.1:4711"]);
});

test("a job of many processes has the bundled adapter for jobs, whatever adapter is configured", async () => {
  const command = await adapterCommand({ request: "attach", job: "4711" }, options({ configured: ["/my/adapter"] }));
  assert.deepEqual(command.slice(1), ["-I", "/extension/bundled", "job"]);
});

test("a configured adapter is asked for its version first", async () => {
  const adapter = await program("adapter", "dapkit 0.1.0");
  assert.deepEqual(await adapterCommand({}, options({ configured: [adapter, "-P"] })), [adapter, "-P"]);
  const old = options({ configured: [adapter], oldest: "0.2.0" });
  await assert.rejects(adapterCommand({}, old), (error: unknown) => {
    assert.ok(error instanceof Problem);
    assert.match(error.message, /is dapkit 0\.1\.0\. This extension needs dapkit 0\.2\.0 or later\. Update it/);
    assert.deepEqual(error.cure?.args, ["dapkit.adapterCommand"]);
    return true;
  });
});

test("an interpreter that is too old leads to where another one is chosen", async () => {
  const python = await program("old/python", "cpython 3 9 2");
  for (const [selectInterpreter, expected] of [
    [undefined, "workbench.action.openSettings"],
    ["python.setInterpreter", "python.setInterpreter"],
  ] as const) {
    await assert.rejects(adapterCommand({ python }, options({ selectInterpreter })), (error: unknown) => {
      return error instanceof Problem && error.cure?.command === expected && error.message.includes("is Python 3.9.2");
    });
  }
});

test("a transcript has the name that is given, or a new one in the folder for logs", () => {
  const places = { logs: "/logs", folder: "/shop", now: new Date(Date.UTC(2026, 0, 2, 3, 4, 5)) };
  assert.equal(transcriptFile(true, places), "/logs/20260102T030405000Z.jsonl");
  assert.equal(transcriptFile("wire.jsonl", places), "/shop/wire.jsonl");
  assert.equal(transcriptFile(false, places), undefined);
  assert.equal(transcriptFile(undefined, places), undefined);
});

test("processes of the user are found, those of Python first", async () => {
  const python = spawn("sleep", ["60"], { stdio: "ignore", argv0: "python3.12" });
  const other = spawn("sleep", ["60"], { stdio: "ignore" });
  await Promise.all([once(python, "spawn"), once(other, "spawn")]);
  try {
    const found = await processesOf(process.getuid?.() ?? 0);
    assert.ok(found.some(({ id, name }) => id === other.pid && name === "sleep"));
    assert.ok(!found.some(({ id }) => id === process.pid));
    assert.ok(found.findIndex(({ id }) => id === python.pid) < found.findIndex(({ id }) => id === other.pid));
  } finally {
    python.kill();
    other.kill();
  }
});
