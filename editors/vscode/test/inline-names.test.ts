import assert from "node:assert/strict";
import { test } from "node:test";

import { inlineNames } from "../src/inline-names";

/** Stop at the end of the line that `# here` marks; return each name with its line, from 1. */
function shown(text: string): string[] {
  const names = inlineNames(text, text.indexOf("# here"));
  return names.map(({ name, start }) => `${String(text.slice(0, start).split("\n").length)}:${name}`);
}

test("parameters and variables of the function are shown up to the line of the stop", () => {
  const text = `
limit = 3
def total_of(orders, /, discount: int = limit, *rest, **more):
    total = 0
    for order in orders:
        total += order.price * order.quantity  # here
    return total
`;
  assert.deepEqual(shown(text), [
    "3:orders",
    "3:discount",
    "3:rest",
    "3:more",
    "4:total",
    "5:order",
    "5:orders",
    "6:total",
    "6:order",
  ]);
});

test("functions and classes within the function have scopes of their own", () => {
  const text = `
def outer(a):
    def inner(b):
        return b
    class Local:
        c = 1
    d = 2  # here
`;
  assert.deepEqual(shown(text), ["2:a", "7:d"]);
});

test("a stop in an inner function shows only what is its own", () => {
  const text = `
def outer(a):
    def inner(b):
        return a + b  # here
    return inner
`;
  assert.deepEqual(shown(text), ["3:b", "4:a", "4:b"]);
});

test("a stop at the header of a function is one in the scope around it", () => {
  assert.deepEqual(shown("x = 1\ndef f(a): # here\n    return a\n"), ["1:x"]);
});

test("code of the module is a scope, too", () => {
  assert.deepEqual(shown("import os\nx = 1\nif x:\n    y = os.name  # here\n"), ["2:x", "3:x", "4:y", "4:os"]);
});

test("calls, attributes and keyword arguments are not shown, their values are", () => {
  assert.deepEqual(shown("result = order.resize(size=width, deep=find(key))  # here\n"), [
    "1:result",
    "1:order",
    "1:width",
    "1:key",
  ]);
});

test("a statement over several lines counts as one", () => {
  assert.deepEqual(shown("x = (a +\n     b)  # here\n"), ["1:x", "1:a", "2:b"]);
});
