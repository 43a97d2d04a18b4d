import assert from "node:assert/strict";
import { test } from "node:test";

import { currentFile } from "../src/configuration";
import { recordedRun } from "../src/recorded-run";

const RECORDER = ["/shop/.venv/bin/python", "-I", "/extension/bundled", "record"];
const NOW = new Date("2026-03-04T05:06:07Z");

test("a file is recorded with the interpreter that runs it", () => {
  const run = recordedRun(currentFile("/shop/app.py"), RECORDER, NOW);
  assert.equal(run.output, "app-20260304050607.dapkit");
  assert.equal(run.program, "/shop/.venv/bin/python");
  assert.deepEqual(run.args, [
    ...RECORDER.slice(1),
    ...["--output", run.output, "/shop/.venv/bin/python", "/shop/app.py"],
  ]);
});

test("a file of tests is recorded as pytest runs it", () => {
  const run = recordedRun(currentFile("/shop/test_app.py", "def test_sum():\n    assert 0\n"), RECORDER, NOW);
  assert.deepEqual(run.args.slice(-4), ["/shop/.venv/bin/python", "-m", "pytest", "/shop/test_app.py"]);
  assert.equal(run.output, "test_app-20260304050607.dapkit");
});
