import assert from "node:assert/strict";
import { test } from "node:test";

import { objectionToAdapter, objectionToPython } from "../src/versions";

const COMMAND = ["/opt/python", "-m", "dapkit.python"];

test("CPython 3.12 and later serve", () => {
  assert.equal(objectionToPython("python", "cpython 3 12 0\n"), undefined);
  assert.equal(objectionToPython("python", "cpython 4 0 0\n"), undefined);
});

test("an interpreter that does not serve is named, with its version and what is needed", () => {
  const old = "/usr/bin/python3 is Python 3.11.2. dapkit needs CPython 3.12 or later.";
  assert.equal(objectionToPython("/usr/bin/python3", "cpython 3 11 2\n"), old);
  assert.match(objectionToPython("pypy", "pypy 3 12 1") ?? "", /^pypy is pypy 3\.12\.1\./);
  assert.match(objectionToPython("/bin/false", "") ?? "", /did not answer as a Python interpreter/);
});

test("an adapter of the needed version or a later one serves", () => {
  assert.equal(objectionToAdapter(COMMAND, "dapkit 0.2.0\n", "0.2.0"), undefined);
  assert.equal(objectionToAdapter(COMMAND, "dapkit 0.10.0\n", "0.9.1"), undefined);
});

test("an adapter that is too old is named, with both versions", () => {
  const objection = '"/opt/python -m dapkit.python" is dapkit 0.1.9. This extension needs dapkit 0.2.0 or later.';
  assert.equal(objectionToAdapter(COMMAND, "dapkit 0.1.9\n", "0.2.0"), objection);
});

test("a command that is no adapter is named", () => {
  assert.match(objectionToAdapter(["cat"], "", "0.1.0") ?? "", /^"cat --version" did not answer with a version/);
});
