import assert from "node:assert/strict";
import { test } from "node:test";

import { hoverExpression } from "../src/hover-expression";

/** Hover over the place that `|` marks. */
function at(marked: string): string | undefined {
  return hoverExpression(marked.replace("|", ""), marked.indexOf("|"))?.expression;
}

test("a name is evaluated", () => {
  assert.equal(at("total = pri|ce + 1"), "price");
});

test("an attribute is evaluated with what it is an attribute of, and nothing behind it", () => {
  assert.equal(at("print(self.order.cust|omer.name)"), "self.order.customer");
  assert.equal(at("print(se|lf.order)"), "self");
  assert.equal(at("(order\n   .cust|omer)"), "order.customer");
});

test("what would have to be called or indexed first is not evaluated", () => {
  assert.equal(at("find(order).na|me"), undefined);
  assert.equal(at("orders[0].na|me"), undefined);
  assert.equal(at("'text'.up|per()"), undefined);
});

test("keywords, numbers, strings and comments are not evaluated", () => {
  for (const marked of ["re|turn x", "Tr|ue", "x = 1e|5", "'na|me'", '"""\nna|me\n"""', "x  # na|me", "x +| y"]) {
    assert.equal(at(marked), undefined, marked);
  }
});

test("names in replacement fields of f-strings are evaluated, those in their text are not", () => {
  assert.equal(at("f'{order.na|me!r:>{width}} costs'"), "order.name");
  assert.equal(at("f'{order.name!r:>{wi|dth}} costs'"), "width");
  assert.equal(at("f'{order.name} co|sts'"), undefined);
  assert.equal(at("f'{{na|me}}'"), undefined);
  assert.equal(at("f'{x != na|me}'"), "name");
});

test("the name of a keyword argument is not a variable, a parameter is one", () => {
  assert.equal(at("resize(si|ze=3)"), undefined);
  assert.equal(at("resize(size=si|ze)"), "size");
  assert.equal(at("def resize(si|ze=3): ..."), "size");
  assert.equal(at("(si|ze == 3)"), "size");
});

test("the range is that of the expression", () => {
  assert.deepEqual(hoverExpression("x = order.name", 11), { expression: "order.name", start: 4, end: 14 });
});

test("a string that is not closed hides nothing of the next line", () => {
  assert.equal(at("x = 'abc\nna|me"), "name");
  assert.equal(at("x = f'{abc\nna|me"), "name");
});
