/** Microsoft's DebugClient against the Python adapter: what a launch configuration can say. */
"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const {
  ORDERS, evaluate, frames, hasWritten, launch, launchToStop, nextStop, outputOf, place, pythonTest, scopes, stopHere,
  terminal, topFrame, written,
} = require("./python.js");

const CALLS_LIBRARY = `
  import textwrap
  x = textwrap.dedent("a")  # here
  y = 1
`;

/** Step into what the stopped line calls, and return the place. */
async function steppedInto(client) {
  await nextStop(client, client.stepInRequest({ threadId: 1 }));
  return (await topFrame(client)).name;
}

pythonTest("launch", "justMyCode decides whether steps go into libraries", async (client) => {
  await stopHere(client, CALLS_LIBRARY);
  assert.equal(await steppedInto(client), "<module>");
});

pythonTest("launch", "without justMyCode steps go into libraries", async (client) => {
  await stopHere(client, CALLS_LIBRARY, { justMyCode: false });
  assert.equal(await steppedInto(client), "dedent");
});

pythonTest("launch", "rules call a library the program's own, the first that fits decides", async (client) => {
  await stopHere(client, CALLS_LIBRARY, { rules: [{ module: "textwrap", include: true }, { path: "**/lib/**", include: false }] });
  assert.equal(await steppedInto(client), "dedent");
});

pythonTest("launch", "rules call code of the program a library's, with justMyCode or without", async (client) => {
  const { file: own } = written("def called():\n    return 1\n");
  const text = `
    import sys
    sys.path.insert(0, ${JSON.stringify(path.dirname(own))})
    import prog
    x = prog.called()  # here
    y = 1
  `;
  const { file, marks } = written(text);
  const main = path.join(path.dirname(file), "main.py");
  fs.renameSync(file, main);
  const rules = [{ path: own, include: false }];
  await launchToStop(client, { program: main, breakpoints: [{ line: marks.here }], justMyCode: false, rules });
  assert.equal(await steppedInto(client), "<module>");
});

pythonTest("launch", "pathMappings give the program's files the paths of the client", async (client) => {
  const { file, marks } = written("x = 1\ny = 2  # here\n");
  const pathMappings = [{ localRoot: "/client/project", remoteRoot: "." }];
  const local = "/client/project/prog.py";
  const session = { program: file, cwd: path.dirname(file), pathMappings, file: local, breakpoints: [{ line: marks.here }] };
  await launchToStop(client, session);
  const [{ line, source }] = await frames(client);
  assert.deepEqual([line, source.path], [2, local]);
});

pythonTest("launch", "redirectOutput can keep what the program writes from the client", async (client) => {
  const output = outputOf(client);
  const ended = client.waitForEvent("terminated");
  await launch(client, { code: "print('quiet')", redirectOutput: false });
  await ended;
  assert.equal(output.stdout, "");
});

for (const [showReturnValue, expected] of [[undefined, ["(return) price"]], [false, []]]) {
  const title = showReturnValue === false ? "is not shown without showReturnValue" : "is shown after a step out";
  pythonTest("launch", `what a function returned ${title}`, async (client) => {
    await launchToStop(client, { breakpoints: [{ line: 6 }], showReturnValue });
    await nextStop(client, client.stepOutRequest({ threadId: 1 }));
    const { body } = await client.variablesRequest((await scopes(client)).find(({ name }) => name === "Locals"));
    assert.deepEqual(body.variables.map(({ name }) => name).filter((name) => name.startsWith("(return) ")), expected);
  });
}

pythonTest("launch", "envFile and env make the environment, and pythonArgs are the interpreter's", async (client) => {
  const { file } = written("import os, sys\nprint(os.environ['A'], os.environ['B'], sys.flags.dev_mode, sys.argv[1:])\n");
  const envFile = path.join(path.dirname(file), "vars.env");
  fs.writeFileSync(envFile, "# mine\nexport A='of the file'\nB=of-the-file\nno line\n");
  const output = outputOf(client);
  const ended = client.waitForEvent("terminated");
  await launch(client, { program: file, envFile, env: { B: "of-env" }, pythonArgs: ["-X", "dev"], args: "'one word' two" });
  await ended;
  assert.equal(output.stdout, "of the file of-env True ['one word', 'two']\n");
  assert.match(output.console, /^line 4 of .*vars\.env is not NAME=value: 'no line'\n$/);
});

pythonTest("launch", "noDebug runs a program that nothing stops", async (client) => {
  const ended = client.waitForEvent("exited");
  const code = "import sys\nprint(sys.monitoring.get_tool(3))\nraise SystemExit(3)";
  const output = outputOf(client);
  await launch(client, { code, noDebug: true, stopOnEntry: true, filters: ["raised", "uncaught"] });
  assert.equal((await ended).body.exitCode, 3);
  assert.equal(output.stdout, "None\n");
});

for (const kind of ["integrated", "external"]) {
  pythonTest("launch", `a program in the ${kind} terminal is typed to, and debugged`, async (client) => {
    const { file, marks } = written("name = input('name? ')\nprint('hello', name)  # here\nraise SystemExit(3)\n");
    const shell = terminal(client);
    const output = outputOf(client);
    const stopped = launchToStop(client, {
      can: { supportsRunInTerminalRequest: true },
      program: file, cwd: path.dirname(file), console: `${kind}Terminal`, env: { WHO: "me" }, breakpoints: [{ line: marks.here }],
    });
    await shell.has("name? ");
    shell.type("Ada\n");
    await stopped;
    assert.equal((await evaluate(client, "(name, __import__('os').environ['WHO'])")).result, "('Ada', 'me')");
    const [exited] = await Promise.all([client.waitForEvent("exited"), client.continueRequest({ threadId: 1 })]);
    assert.equal(exited.body.exitCode, 3);
    await shell.has("hello Ada");
    assert.deepEqual(shell.asked.map((asked) => [asked.kind, asked.cwd]), [[kind, path.dirname(file)]]);
    assert.equal(output.stdout, "");
  });
}

pythonTest("launch", "redirectOutput tells what is written in a terminal as well", async (client) => {
  const shell = terminal(client);
  const output = outputOf(client);
  const ended = client.waitForEvent("terminated");
  const code = "import sys\nprint('to both', sys.stdout.isatty())";
  await launch(client, { can: { supportsRunInTerminalRequest: true }, code, console: "integratedTerminal", redirectOutput: true });
  await ended;
  assert.equal(output.stdout, "to both True\n");
  await shell.has("to both True");
});

pythonTest("launch", "a terminal is refused to a client that has none, with what to do", async (client) => {
  await assert.rejects(launch(client, { console: "integratedTerminal" }), /runInTerminal.*use internalConsole/);
});

pythonTest("launch", "autoReload takes a saved function into the running program", async (client) => {
  const text = (word) => `
    import os, time
    def spoken():
        return "${word}"
    print("ready", flush=True)
    while not os.path.exists("go"):
        time.sleep(0.01)
    print(spoken())
  `;
  const { file } = written(text("old"));
  const [output, ready, ended] = [outputOf(client), hasWritten(client, "ready"), client.waitForEvent("terminated")];
  const cwd = path.dirname(file);
  await launch(client, { program: file, cwd, autoReload: { enable: true, pollingInterval: 0.05 } });
  await ready;
  const { file: saved } = written(text("new"));
  const told = client.waitForEvent("loadedSource");
  fs.renameSync(saved, file);
  const { body } = await told;
  assert.deepEqual([body.reason, body.source.path], ["changed", file]);
  fs.writeFileSync(path.join(cwd, "go"), "");
  await ended;
  assert.equal(output.stdout, "ready\nnew\n");
  assert.equal(output.console, "prog.py was saved: changed spoken\n");
});

pythonTest("launch", "keys that nobody knows are told once, those of editors are not", async (client) => {
  const output = outputOf(client);
  const ended = client.waitForEvent("terminated");
  await launch(client, {
    name: "This file", type: "debugpy", request: "launch", program: ORDERS, preLaunchTask: "build", __sessionId: "1",
    django: true, jinja: true, gevent: false, subProcess: false, justMyCodes: true, frobnicate: 1,
  });
  await ended;
  assert.equal(
    output.console,
    'Launch arguments that dapkit does not know: "justMyCodes" (did you mean "justMyCode"?), "frobnicate"\n',
  );
});

for (const [key, value, told] of [
  ["justMyCode", "yes", /\$\.arguments\.justMyCode: expected true or false, got 'yes'/],
  ["console", "window", /\$\.arguments\.console/],
  ["rules", [{ include: true }], /rule.*expected path, module or exception/],
  ["pathMappings", [{ localRoot: "/a" }], /\$\.arguments\.pathMappings\[0\].*remoteRoot/],
  ["autoReload", { enable: true, pollingInterval: 0 }, /pollingInterval is 0/],
]) {
  pythonTest("launch", `a wrong ${key} is refused with its place, and launch can be tried again`, async (client) => {
    await assert.rejects(launch(client, { [key]: value }), told);
    const initialized = client.waitForEvent("initialized");
    const launched = client.launchRequest({ program: ORDERS, stopOnEntry: true });
    await initialized;
    await nextStop(client, client.configurationDoneRequest());
    await launched;
    assert.equal(await place(client), "<module>:1");
  });
}
