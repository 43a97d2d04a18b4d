/** Microsoft's DebugClient against the Python adapter: steps and jumps. */
"use strict";

const assert = require("node:assert/strict");
const { LINE, evaluate, launchToStop, locals, nextStop, place, pythonTest, stopHere, topFrame } = require("./python.js");

pythonTest("next, stepIn, stepOut", "steps go where they should", async (client) => {
  await launchToStop(client, { breakpoints: [{ line: LINE.call }] });
  const steps = [];
  for (const step of ["stepIn", "next", "stepOut", "next"]) {
    const stop = await nextStop(client, client.send(step, { threadId: 1 }));
    steps.push(`${stop.reason} ${step} ${await place(client)}`);
  }
  assert.deepEqual(steps, ["step stepIn price:5", "step next price:6", "step stepOut main:14", "step next main:15"]);
});

pythonTest("next, stepIn, stepOut", "a step may be one statement, one line or one instruction", async (client) => {
  await stopHere(client, `
    def f():
        a = 1; b = 2; c = 3  # here
        d = 4; e = 5
        return a + b + c + d + e
    f()
  `);
  const next = (granularity) => nextStop(client, client.send("next", { threadId: 1, granularity }));
  await next("statement");
  assert.deepEqual(await locals(client), { a: "1" });
  await next("line");
  assert.equal(await place(client), "f:3");
  const { instructionPointerReference: before } = await topFrame(client);
  await next("instruction");
  const { instructionPointerReference: after, line } = await topFrame(client);
  assert.equal(line, 3);
  assert.ok(Number(after) > Number(before));
});

pythonTest("next, stepIn, stepOut", "stepping over a yield goes to what consumes it", async (client) => {
  const { marks } = await stopHere(client, `
    def numbers():
        yield 1  # here
        yield 2
    for number in numbers():
        print(number)  # next
  `);
  await nextStop(client, client.send("next", { threadId: 1 }));
  assert.equal(await place(client), `<module>:${marks.next - 1}`);
});

pythonTest("next, stepIn, stepOut", "stepping over an await stays in the coroutine", async (client) => {
  const { marks } = await stopHere(client, `
    import asyncio
    async def other():
        for _ in range(3):
            await asyncio.sleep(0)
    async def main():
        task = asyncio.create_task(other())
        await asyncio.sleep(0.01)  # here
        await task  # next
    asyncio.run(main())
  `);
  await nextStop(client, client.send("next", { threadId: 1 }));
  assert.equal(await place(client), `main:${marks.next}`);
});

pythonTest("stepInTargets, gotoTargets, goto, restartFrame", "a step goes into the call that was chosen", async (client) => {
  await stopHere(client, `
    def one():
        return 1
    def two(n):
        return n + 1
    print(two(one()))  # here
  `);
  const { body: { targets } } = await client.send("stepInTargets", { frameId: (await topFrame(client)).id });
  const target = targets.find(({ label }) => label.startsWith("two"));
  await nextStop(client, client.send("stepIn", { threadId: 1, targetId: target.id }));
  assert.equal(await place(client), "two:4");
});

pythonTest("stepInTargets, gotoTargets, goto, restartFrame", "goto skips lines, and is refused elsewhere", async (client) => {
  const { file, marks } = await stopHere(client, `
    def f():
        a = 1
        a = 2  # here
        a = 3
        return a  # end
    print(f())  # outside
  `);
  const targetsOf = async (line) => (await client.send("gotoTargets", { source: { path: file }, line })).body.targets;
  const [target] = await targetsOf(marks.end);
  const stop = await nextStop(client, client.send("goto", { threadId: 1, targetId: target.id }));
  assert.equal(stop.reason, "goto");
  assert.equal(await place(client), `f:${marks.end}`);
  assert.equal((await locals(client)).a, "1");
  await assert.rejects(client.send("goto", { threadId: 1, targetId: 4711 }));
  assert.equal((await evaluate(client, "a")).result, "1");
});

pythonTest("stepInTargets, gotoTargets, goto, restartFrame", "restartFrame restores the arguments", async (client) => {
  await stopHere(client, `
    def f(n):
        n = n + 1
        return n
    print(f(1))  # here
  `);
  await nextStop(client, client.stepInRequest({ threadId: 1 }));
  await nextStop(client, client.nextRequest({ threadId: 1 }));
  assert.deepEqual(await locals(client), { n: "2" });
  const { id: frameId } = await topFrame(client);
  await nextStop(client, client.send("restartFrame", { frameId }));
  assert.match(await place(client), /^f:[12]$/);
  assert.equal((await locals(client)).n, "1");
});
