/** Microsoft's DebugClient against the Python adapter: what a stopped program holds. */
"use strict";

const assert = require("node:assert/strict");
const {
  LINE, ORDERS, children, evaluate, frames, hasWritten, launch, launchToStop, localRow, localRows, locals, outputOf, pythonTest, scopes,
  stopHere, topFrame,
} = require("./python.js");

const SHOWN = `
  class Thing:
      def __init__(self):
          self.name = "thing"
          self._hidden = 1
  def f(x):
      def inner():  # defined
          return x
      many = list(range(1_000_000))
      thing = Thing()
      keys = {"a": 1, (1, 2): "odd"}
      number = 255
      return inner  # here
  f(1)
`;

pythonTest("stackTrace", "the stack has names, lines and sources", async (client) => {
  await launchToStop(client, { breakpoints: [{ line: LINE.inPrice }] });
  const stack = await frames(client);
  assert.deepEqual(stack.map(({ name, line }) => `${name}:${line}`), ["price:6", "main:14", "<module>:22"]);
  assert.ok(stack.every(({ source }) => source.path === ORDERS));
});

pythonTest("stackTrace", "the stack is served by pages, and says how long it is", async (client) => {
  await launchToStop(client, { breakpoints: [{ line: LINE.inPrice }] });
  const { body } = await client.stackTraceRequest({ threadId: 1, startFrame: 1, levels: 1 });
  assert.deepEqual(body.stackFrames.map(({ name }) => name), ["main"]);
  assert.ok(body.totalFrames >= 3);
});

pythonTest("stackTrace", "the stack of a running thread is shown without stopping it", async (client) => {
  const ready = hasWritten(client, "ready");
  await launch(client, { code: "import time\ndef wait():\n    print('ready', flush=True)\n    time.sleep(60)\nwait()" });
  await ready;
  assert.deepEqual((await frames(client)).map(({ name }) => name), ["wait", "<module>"]);
});

pythonTest("threads, terminateThreads", "threads of the program are listed", async (client) => {
  await launchToStop(client, { breakpoints: [{ line: LINE.call }] });
  assert.deepEqual((await client.threadsRequest()).body.threads, [{ id: 1, name: "MainThread" }]);
});

pythonTest("threads, terminateThreads", "the begin and the end of threads are told", async (client) => {
  const told = [];
  client.on("thread", ({ body }) => told.push(body.reason));
  const { threadId } = await stopHere(client, `
    import threading
    def work():
        return 1  # here
    thread = threading.Thread(target=work, name="worker")
    thread.start()
    thread.join()
  `);
  const { body: { threads } } = await client.threadsRequest();
  assert.equal(threads.find(({ id }) => id === threadId).name, "worker");
  const ended = client.waitForEvent("terminated");
  await client.continueRequest({ threadId });
  await ended;
  assert.ok(told.includes("started") && told.includes("exited"), `${told}`);
});

pythonTest("scopes, variables", "the values of a frame are shown", async (client) => {
  await launchToStop(client, { breakpoints: [{ line: LINE.inPrice, condition: "count == 2" }] });
  assert.deepEqual((await scopes(client)).map(({ name }) => name), ["Locals", "Globals"]);
  assert.deepEqual(await locals(client), { count: "2", each: "10", total: "20" });
});

pythonTest("scopes, variables", "a long list is served by pages", async (client) => {
  await stopHere(client, SHOWN);
  const many = await localRow(client, "many");
  assert.equal(many.indexedVariables, 1_000_000);
  const page = await children(client, many.variablesReference, { filter: "indexed", start: 500_000, count: 100 });
  assert.equal(page.length, 100);
  assert.equal(page[0].value, "500000");
});

pythonTest("scopes, variables", "numbers are shown in base 16 if asked", async (client) => {
  await stopHere(client, SHOWN);
  const [{ variablesReference }] = await scopes(client);
  const rows = await children(client, variablesReference, { format: { hex: true } });
  assert.equal(rows.find(({ name }) => name === "number").value, "0xff");
});

pythonTest("scopes, variables", "attributes and odd keys are shown", async (client) => {
  await stopHere(client, SHOWN);
  const thing = await children(client, (await localRow(client, "thing")).variablesReference);
  assert.equal(thing.find(({ name }) => name === "name").value, "'thing'");
  const keys = await children(client, (await localRow(client, "keys")).variablesReference);
  assert.equal(keys.find(({ name }) => name === "(1, 2)").value, "'odd'");
});

pythonTest("scopes, variables", "a repr that raises, and one without end, leave the rest readable", async (client) => {
  await stopHere(client, `
    class Raises:
        def __repr__(self):
            raise ValueError("no")
    class Hangs:
        def __repr__(self):
            while True: pass
    def f():
        raises, hangs, fine = Raises(), Hangs(), 1
        return fine  # here
    f()
  `);
  assert.equal((await locals(client)).fine, "1");
  assert.equal((await locals(client)).fine, "1");
});

pythonTest("setVariable, setExpression", "a local variable, an attribute and an item get new values", async (client) => {
  await stopHere(client, SHOWN);
  const [{ variablesReference }] = await scopes(client);
  const { body } = await client.setVariableRequest({ variablesReference, name: "number", value: "'new'" });
  assert.deepEqual([body.value, body.type], ["'new'", "str"]);
  const { id: frameId } = await topFrame(client);
  await client.send("setExpression", { expression: "thing.name", value: "2 + 3", frameId });
  await client.send("setExpression", { expression: "keys['a']", value: "[]", frameId });
  assert.equal((await evaluate(client, "(number, thing.name, keys['a'])")).result, "('new', 5, [])");
});

pythonTest("setVariable, setExpression", "a name that is not there is refused", async (client) => {
  await stopHere(client, SHOWN);
  const [{ variablesReference }] = await scopes(client);
  await assert.rejects(client.setVariableRequest({ variablesReference, name: "missing", value: "1" }), /missing/);
});

pythonTest("evaluate", "an expression sees the frame, and fails with its own error", async (client) => {
  await launchToStop(client, { breakpoints: [{ line: LINE.inPrice, condition: "count == 2" }] });
  assert.equal((await evaluate(client, "total + 1", { context: "watch" })).result, "21");
  await assert.rejects(evaluate(client, "missing", { context: "watch" }), /NameError/);
});

pythonTest("evaluate", "the console runs statements, awaits, and keeps the last value", async (client) => {
  await stopHere(client, SHOWN);
  await evaluate(client, "import asyncio\nfor i in range(3):\n    number += i");
  assert.equal((await evaluate(client, "number")).result, "258");
  assert.equal((await evaluate(client, "_ + 1")).result, "259");
  assert.equal((await evaluate(client, "await asyncio.sleep(0, 'done')")).result, "'done'");
});

pythonTest("evaluate", "a hover has no effects, and the clipboard gets the whole value", async (client) => {
  await stopHere(client, SHOWN);
  assert.equal((await evaluate(client, "thing.name", { context: "hover" })).result, "'thing'");
  await assert.rejects(evaluate(client, "f(2)", { context: "hover" }));
  const { result } = await evaluate(client, "many[:5000]", { context: "clipboard" });
  assert.ok(result.endsWith("4998, 4999]"), result.slice(-40));
});

pythonTest("completions", "names, attributes and keys are completed", async (client) => {
  await stopHere(client, SHOWN);
  const { id: frameId } = await topFrame(client);
  const labels = async (text) => {
    const { body } = await client.completionsRequest({ text, column: text.length + 1, frameId });
    return body.targets.map(({ label }) => label);
  };
  assert.deepEqual(await labels("numb"), ["number"]);
  assert.ok((await labels("thing.")).includes("name"));
  assert.ok((await labels("keys[")).some((label) => label.includes("a")));
  assert.ok((await labels("import os.pa")).some((label) => label.includes("path")));
  assert.deepEqual(await labels("nothing_like_this"), []);
});

pythonTest("readMemory, writeMemory", "bytes of a buffer are read and written, and those of a constant only read", async (client) => {
  await stopHere(client, `
    def f():
        data = bytearray(b"abcdef")
        fixed = b"fixed"
        return data, fixed  # here
    f()
  `);
  const { memoryReference } = await localRow(client, "data");
  const read = await client.send("readMemory", { memoryReference, offset: 2, count: 100 });
  assert.equal(Buffer.from(read.body.data, "base64").toString(), "cdef");
  assert.equal(read.body.unreadableBytes, 96);
  const changed = client.waitForEvent("memory");
  await client.send("writeMemory", { memoryReference, offset: 1, data: Buffer.from("XY").toString("base64") });
  assert.equal((await changed).body.memoryReference, memoryReference);
  assert.equal((await locals(client)).data, "bytearray(b'aXYdef')");
  const fixed = await localRow(client, "fixed");
  const data = Buffer.from("F").toString("base64");
  await assert.rejects(client.send("writeMemory", { memoryReference: fixed.memoryReference, data }), /bytes/);
});

pythonTest("threads, terminateThreads", "a thread is ended and cleans up, and the main thread is not", async (client) => {
  const output = outputOf(client);
  const { threadId } = await stopHere(client, `
    import threading
    def work():
        try:
            while True:
                n = 1  # here
        finally:
            print("cleaned up")
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    print("end")
  `);
  const ended = client.waitForEvent("terminated");
  await client.setBreakpointsRequest({ source: (await topFrame(client, threadId)).source, breakpoints: [] });
  await assert.rejects(client.send("terminateThreads", { threadIds: [1] }));
  await client.send("terminateThreads", { threadIds: [threadId] });
  await client.continueRequest({ threadId: 1 });
  await ended;
  assert.equal(output.stdout, "cleaned up\nend\n");
});

pythonTest("stackTrace", "the stack of a task goes on with what awaits it", async (client) => {
  await stopHere(client, `
    import asyncio
    async def inner():
        return 1  # here
    async def outer():
        return await asyncio.create_task(inner())
    asyncio.run(outer())
  `);
  const stack = await frames(client);
  assert.ok(stack.some(({ presentationHint }) => presentationHint === "label"));
  assert.ok(stack.some(({ name }) => name === "outer"));
});
