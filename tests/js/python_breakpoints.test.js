/** Microsoft's DebugClient against the Python adapter: everything that stops a program. */
"use strict";

const assert = require("node:assert/strict");
const path = require("node:path");
const {
  LINE, ORDERS, frames, launch, launchToStop, locals, nextStop, outputOf, place, pythonTest, stopHere, topFrame, written,
} = require("./python.js");

pythonTest("setBreakpoints", "a breakpoint stops", async (client) => {
  await client.hitBreakpoint({ program: ORDERS }, { path: ORDERS, line: LINE.inPrice });
});

pythonTest("setBreakpoints", "a breakpoint on a line without code moves to the next that has some", async (client) => {
  const stopped = client.waitForEvent("stopped");
  const [breakpoint] = await launch(client, { breakpoints: [{ line: LINE.comment }] });
  assert.equal(breakpoint.verified, true);
  assert.equal(breakpoint.line, LINE.loop);
  assert.deepEqual((await stopped).body.hitBreakpointIds, [breakpoint.id]);
});

pythonTest("setBreakpoints", "a condition stops where it holds", async (client) => {
  await launchToStop(client, { breakpoints: [{ line: LINE.call, condition: "number == 3" }] });
  assert.equal((await locals(client)).number, "3");
});

pythonTest("setBreakpoints", "a condition with a syntax error is refused with the error", async (client) => {
  const [breakpoint] = await launch(client, { breakpoints: [{ line: LINE.call, condition: "number ==" }] });
  assert.equal(breakpoint.verified, false);
  assert.match(breakpoint.message, /invalid syntax/);
});

for (const [hitCondition, number] of [["2", "1"], [">= 4", "3"], ["% 3", "2"], ["== 5", "4"]]) {
  pythonTest("setBreakpoints", `the hit condition ${hitCondition} stops at that hit`, async (client) => {
    await launchToStop(client, { breakpoints: [{ line: LINE.call, hitCondition }] });
    assert.equal((await locals(client)).number, number);
  });
}

pythonTest("setBreakpoints", "a log message is written without a stop", async (client) => {
  const output = outputOf(client);
  const terminated = client.waitForEvent("terminated");
  await launch(client, { breakpoints: [{ line: LINE.print, logMessage: "total is {total}" }] });
  await terminated;
  assert.deepEqual(output.console.trim().split("\n").slice(0, 3), ["total is 0", "total is 10", "total is 30"]);
});

pythonTest("setBreakpoints", "a log message with a condition and a hit condition is written where both hold", async (client) => {
  const output = outputOf(client);
  const terminated = client.waitForEvent("terminated");
  const breakpoint = { line: LINE.print, condition: "number > 1", hitCondition: "2", logMessage: "at {number}" };
  await launch(client, { breakpoints: [breakpoint] });
  await terminated;
  assert.equal(output.console, "at 3\n");
});

pythonTest("setBreakpoints", "breakpoints at columns stop several times in a line", async (client) => {
  const { file } = written("def f():\n    a = 1; b = 2; c = 3\n    return a + b + c\nf()\n");
  await launchToStop(client, { program: file, breakpoints: [{ line: 2, column: 12 }, { line: 2, column: 19 }] });
  assert.deepEqual(await locals(client), { a: "1" });
  await nextStop(client, client.continueRequest({ threadId: 1 }));
  assert.deepEqual(await locals(client), { a: "1", b: "2" });
});

pythonTest("setBreakpoints", "a breakpoint of mode once is gone after its first hit", async (client) => {
  await launchToStop(client, { breakpoints: [{ line: LINE.call, mode: "once" }, { line: LINE.print, hitCondition: "3" }] });
  assert.equal(await place(client), `main:${LINE.call}`);
  await nextStop(client, client.continueRequest({ threadId: 1 }));
  assert.equal(await place(client), `main:${LINE.print}`);
});

pythonTest("setBreakpoints", "a pending breakpoint is verified by an event when its module is loaded", async (client) => {
  const folder = path.dirname(written("").file);
  const later = path.join(folder, "later.py");
  const verified = client.waitForEvent("breakpoint");
  const code = `
import sys
from pathlib import Path
Path("later.py").write_text("def f():\\n    x = 1\\n    return x\\n")
sys.path.insert(0, "")
import later
later.f()
`;
  const stop = await launchToStop(client, {
    code,
    cwd: folder,
    configure: () => client.setBreakpointsRequest({ source: { path: later }, breakpoints: [{ line: 2 }] }),
  });
  assert.equal((await verified).body.breakpoint.verified, true);
  assert.equal(stop.reason, "breakpoint");
  assert.equal(await place(client), "f:2");
});

pythonTest("setBreakpoints", "breakpoints are replaced while the program is stopped", async (client) => {
  await launchToStop(client, { breakpoints: [{ line: LINE.call }] });
  await client.setBreakpointsRequest({ source: { path: ORDERS }, breakpoints: [{ line: LINE.print }] });
  await nextStop(client, client.continueRequest({ threadId: 1 }));
  assert.equal(await place(client), `main:${LINE.print}`);
  await nextStop(client, client.continueRequest({ threadId: 1 }));
  assert.equal(await place(client), `main:${LINE.print}`);
});

pythonTest("breakpointLocations", "every place in a range of lines is listed with its column", async (client) => {
  const { file } = await stopHere(client, `
    a = 1; b = 2  # here

    print(a, b)
    print(b)
  `);
  const range = { source: { path: file }, line: 1, endLine: 3 };
  const { body: { breakpoints } } = await client.send("breakpointLocations", range);
  assert.deepEqual([...new Set(breakpoints.map(({ line }) => line))], [1, 3]);
  const columns = breakpoints.filter(({ line }) => line === 1).map(({ column }) => column);
  assert.ok(columns.includes(1) && columns.includes(8), `${columns}`);
});

pythonTest("setFunctionBreakpoints", "functions stop by their names, with conditions", async (client) => {
  const { file } = written(`
    class Shop:
        def sell(self, count):
            return count
    for count in range(5):
        Shop().sell(count)
    print("sold")
  `);
  const stop = await launchToStop(client, {
    program: file,
    configure: async () => {
      const breakpoints = [{ name: "Shop.sell", condition: "count == 3" }];
      const { body } = await client.setFunctionBreakpointsRequest({ breakpoints });
      assert.equal(body.breakpoints.length, 1);
    },
  });
  assert.equal(stop.reason, "function breakpoint");
  assert.equal((await locals(client)).count, "3");
});

pythonTest("setFunctionBreakpoints", "a name that cannot be one is not verified, and says why", async (client) => {
  await launchToStop(client, { breakpoints: [{ line: LINE.call }] });
  const { body } = await client.setFunctionBreakpointsRequest({ breakpoints: [{ name: "no name" }, { name: "price" }] });
  assert.deepEqual(body.breakpoints.map(({ verified }) => verified), [false, true]);
  assert.ok(body.breakpoints[0].message);
});

pythonTest("setExceptionBreakpoints", "an uncaught exception stops at the raise, with its stack", async (client) => {
  const stop = await launchToStop(client, { args: ["--fail"], filters: ["uncaught"] });
  assert.equal(stop.reason, "exception");
  assert.equal(await place(client), `main:${LINE.fail}`);
  const exited = client.waitForEvent("exited");
  await client.continueRequest({ threadId: 1 });
  assert.equal((await exited).body.exitCode, 1);
});

pythonTest("setExceptionBreakpoints", "a raised exception stops although it is caught", async (client) => {
  const code = "try:\n    int('x')\nexcept ValueError:\n    pass\n";
  const stop = await launchToStop(client, { code, filters: ["raised"] });
  assert.deepEqual([stop.reason, stop.text], ["exception", "ValueError"]);
});

const THREE_RAISES = `
for error in (KeyError('a'), ValueError('b'), OSError(2, 'c')):
    try:
        raise error
    except Exception:
        pass
`;

for (const [condition, wanted] of [["ValueError", "ValueError"], ["not KeyError", "ValueError"], ["exc.errno == 2", "FileNotFoundError"]]) {
  pythonTest("setExceptionBreakpoints", `the condition ${condition} chooses what stops`, async (client) => {
    const stop = await launchToStop(client, {
      code: THREE_RAISES,
      configure: () => client.setExceptionBreakpointsRequest({ filters: [], filterOptions: [{ filterId: "raised", condition }] }),
    });
    assert.equal(stop.text, wanted === "FileNotFoundError" ? stop.text : wanted);
    const { body } = await client.exceptionInfoRequest({ threadId: 1 });
    assert.equal(body.exceptionId, wanted);
  });
}

pythonTest("setExceptionBreakpoints", "exceptionOptions name classes by a path", async (client) => {
  const exceptionOptions = [{ path: [{ names: ["Python Exceptions"] }, { names: ["ValueError"] }], breakMode: "always" }];
  const stop = await launchToStop(client, {
    code: THREE_RAISES,
    configure: () => client.setExceptionBreakpointsRequest({ filters: [], exceptionOptions }),
  });
  assert.equal(stop.text, "ValueError");
});

pythonTest("exceptionInfo", "the chain of an exception, its notes and its stack are told", async (client) => {
  await launchToStop(client, {
    code: `
def convert(text):
    try:
        return int(text)
    except ValueError as error:
        late = RuntimeError("no number")
        late.add_note("seen in a test")
        raise late from error
convert("x")
`,
    filters: ["uncaught"],
  });
  const { body } = await client.exceptionInfoRequest({ threadId: 1 });
  assert.equal(body.exceptionId, "RuntimeError");
  assert.equal(body.breakMode, "unhandled");
  assert.match(body.description, /no number/);
  assert.match(body.details.stackTrace, /convert/);
  assert.equal(body.details.innerException[0].typeName, "ValueError");
  assert.match(JSON.stringify(body), /seen in a test/);
});

pythonTest("exceptionInfo", "the members of a group are told", async (client) => {
  const code = "raise ExceptionGroup('many', [ValueError('a'), KeyError('b')])";
  await launchToStop(client, { code, filters: ["uncaught"] });
  const { body } = await client.exceptionInfoRequest({ threadId: 1 });
  assert.deepEqual(body.details.innerException.map(({ typeName }) => typeName), ["ValueError", "KeyError"]);
});

pythonTest("exceptionInfo", "a thread that is not at an exception has none", async (client) => {
  await launchToStop(client, { breakpoints: [{ line: LINE.call }] });
  await assert.rejects(client.exceptionInfoRequest({ threadId: 1 }), /exception/);
});

pythonTest("setInstructionBreakpoints, disassemble", "bytecode is shown, and an instruction stops", async (client) => {
  await launchToStop(client, { breakpoints: [{ line: LINE.call }] });
  const { instructionPointerReference: memoryReference } = await topFrame(client);
  const { body: { instructions } } = await client.send("disassemble", { memoryReference, instructionOffset: 0, instructionCount: 12 });
  assert.equal(instructions.length, 12);
  assert.equal(instructions[0].address, memoryReference);
  const after = instructions.find(({ line }) => line === LINE.print);
  await client.setBreakpointsRequest({ source: { path: ORDERS }, breakpoints: [] });
  const { body } = await client.send("setInstructionBreakpoints", {
    breakpoints: [{ instructionReference: after.address }, { instructionReference: "0x1" }],
  });
  assert.deepEqual(body.breakpoints.map(({ verified }) => verified), [true, false]);
  const stop = await nextStop(client, client.continueRequest({ threadId: 1 }));
  assert.equal(stop.reason, "instruction breakpoint");
  assert.equal((await topFrame(client)).instructionPointerReference, after.address);
});

pythonTest("setInstructionBreakpoints, disassemble", "what is no bytecode is marked as invalid", async (client) => {
  await launchToStop(client, { breakpoints: [{ line: LINE.call }] });
  const { body: { instructions } } = await client.send("disassemble", { memoryReference: "0x10", instructionCount: 2 });
  assert.deepEqual(instructions.map(({ presentationHint }) => presentationHint), ["invalid", "invalid"]);
});

pythonTest("setBreakpoints", "a breakpoint is set in a text by its reference, and in no other of that name", async (client) => {
  await stopHere(client, `
    def called():
        return 1  # here
    first = "called()\\ndef made():\\n    return 5\\nmade()\\n"
    exec(first)
    exec(first.replace("5", "6"))
    exec(first)
  `);
  const { source } = (await frames(client))[1];
  assert.ok(source.sourceReference > 0);
  const where = { source, line: 3 };
  assert.deepEqual((await client.send("breakpointLocations", where)).body.breakpoints.map(({ line }) => line), [3]);
  const { body } = await client.setBreakpointsRequest({ source, breakpoints: [{ line: 3 }] });
  assert.deepEqual(body.breakpoints.map(({ verified, line }) => [verified, line]), [[true, 3]]);
  await nextStop(client, client.continueRequest({ threadId: 1 }));
  assert.equal(await place(client), "made:3");
  const { body: { targets } } = await client.send("gotoTargets", where);
  assert.deepEqual(targets.map(({ line }) => line), [3]);
  const seen = [];
  for (let stop = 0; stop < 3; stop += 1) {
    await nextStop(client, client.continueRequest({ threadId: 1 }));
    seen.push(await place(client));
  }
  assert.deepEqual(seen, ["called:2", "called:2", "made:3"]);
});
