/** Microsoft's DebugClient against the Python adapter: data breakpoints. */
"use strict";

const assert = require("node:assert/strict");
const { evaluate, nextStop, outputOf, pythonTest, stopHere, topFrame } = require("./python.js");

const ROW = "dataBreakpointInfo, setDataBreakpoints";
const WRITES = `
  total = 0
  class Account:
      def __init__(self):
          self.balance = 0
      def pay(self, amount):
          self.balance += amount
  account = Account()
  data = bytearray(8)
  def add(n):
      global total
      total += n
  def main():
      pass  # here
      add(3)
      add(2)
      account.pay(7)
      data[5] = 255
      print("done")
  main()
`;

/** Ask about a name, in the newest frame if not elsewhere. */
async function info(client, name, args = {}) {
  const where = "variablesReference" in args || args.asAddress ? {} : { frameId: (await topFrame(client)).id };
  return (await client.send("dataBreakpointInfo", { name, ...where, ...args })).body;
}

async function set(client, ...breakpoints) {
  return (await client.send("setDataBreakpoints", { breakpoints })).body.breakpoints;
}

async function goOn(client) {
  return nextStop(client, client.continueRequest({ threadId: 1 }));
}

pythonTest(ROW, "a write to a global variable stops where it was written", async (client) => {
  await stopHere(client, WRITES);
  const { accessTypes, canPersist, dataId, description } = await info(client, "total");
  assert.deepEqual([accessTypes, canPersist], [["write", "read", "readWrite"], true]);
  assert.equal(description, "total in module __main__");
  const [placed] = await set(client, { dataId, accessType: "write" });
  assert.equal(placed.verified, true);
  const stop = await goOn(client);
  assert.equal(stop.reason, "data breakpoint");
  assert.equal(stop.text, "total changed from 0 to 3");
  assert.deepEqual(stop.hitBreakpointIds, [placed.id]);
  assert.equal((await topFrame(client)).name, "add");
});

pythonTest(ROW, "a condition chooses the write, and a hit condition counts", async (client) => {
  await stopHere(client, WRITES);
  const { dataId } = await info(client, "total");
  await set(client, { dataId, accessType: "write", condition: "total == 5" });
  assert.equal((await goOn(client)).text, "total changed from 3 to 5");
  const { dataId: balance } = await info(client, "account.balance");
  await set(client, { dataId: balance, hitCondition: ">= 2" }, { dataId, condition: "True" });
  const output = outputOf(client);
  await Promise.all([client.waitForEvent("terminated"), client.continueRequest({ threadId: 1 })]);
  assert.equal(output.stdout, "done\n");
});

pythonTest(ROW, "an attribute is found among the children of its object", async (client) => {
  await stopHere(client, WRITES);
  const { variablesReference } = await evaluate(client, "account");
  const { dataId, description } = await info(client, "balance", { variablesReference });
  assert.equal(description, "account.balance");
  await set(client, { dataId });
  assert.equal((await goOn(client)).text, "account.balance changed from 0 to 7");
  assert.equal((await topFrame(client)).name, "Account.pay");
});

pythonTest(ROW, "bytes are found by their address", async (client) => {
  await stopHere(client, WRITES);
  const { memoryReference } = await evaluate(client, "data");
  const name = `0x${(BigInt(memoryReference) + 4n).toString(16)}`;
  const { dataId } = await info(client, name, { asAddress: true, bytes: 2 });
  await set(client, { dataId });
  assert.match((await goOn(client)).text, /bytes 4 to 5 changed from b'\\x00\\x00' to b'\\x00\\xff'$/);
});

pythonTest(ROW, "what cannot be watched has no data id, but a reason", async (client) => {
  await stopHere(client, WRITES);
  const { dataId, description } = await info(client, "1 + 1");
  assert.equal(dataId, null);
  assert.match(description, /cannot be assigned to/);
  const [placed] = await set(client, { dataId: "value:1:1" });
  assert.equal(placed.verified, false);
  assert.match(placed.message, /no longer valid/);
});
