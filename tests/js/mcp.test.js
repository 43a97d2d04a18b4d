/** What the definitions of the debug tools cost an agent in each conversation. */
"use strict";

const assert = require("node:assert/strict");
const { execFileSync } = require("node:child_process");
const path = require("node:path");
const test = require("node:test");
const { encode } = require("gpt-tokenizer/encoding/o200k_base");

const PYTHON = process.env.DAPKIT_TEST_PYTHON ?? path.resolve(__dirname, "../../.venv/bin/python");
const MOST_TOKENS = 400;

const DEFINITION = `
import json
from dapkit.mcp.debug_service import tools
print(json.dumps(tools(read_only=False), separators=(",", ":")))
`;

test(`all definitions together have at most ${MOST_TOKENS} tokens`, () => {
  const definition = execFileSync(PYTHON, ["-c", DEFINITION], { encoding: "utf8" });
  assert.match(definition, /"set_data_breakpoint"/);
  const tokens = encode(definition).length;
  assert.ok(tokens <= MOST_TOKENS, `found ${tokens} tokens`);
});
