/** Which expression is evaluated for a place that the pointer rests on: names and attributes of names, nothing that calls. */

import { isKeywordArgument, isOperator } from "./names";
import { tokenize, type Token } from "./python-text";

export interface HoverExpression {
  readonly expression: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Return the expression that ends with the name at an offset: `order.customer` for `customer` in `order.customer.name`.
 *
 * Keywords, strings, comments and names of keyword arguments have none, nor have attributes of anything but names:
 * hovering must not run the program's code.
 */
export function hoverExpression(text: string, offset: number): HoverExpression | undefined {
  const tokens = tokenize(text);
  const index = tokens.findIndex((token) => token.start <= offset && offset < token.end);
  const last = tokens[index];
  if (last?.kind !== "name" || isKeywordArgument(tokens, index)) {
    return undefined;
  }
  const chain = chainUpTo(tokens, index);
  const first = chain?.[0];
  if (chain === undefined || first === undefined) {
    return undefined;
  }
  return { expression: chain.map((token) => token.text).join("."), start: first.start, end: last.end };
}

/** Return the names of a chain of attributes; undefined if it does not begin with a name. */
function chainUpTo(tokens: readonly Token[], index: number): Token[] | undefined {
  const token = tokens[index];
  if (token?.kind !== "name") {
    return undefined;
  }
  if (!isOperator(tokens[index - 1], ".")) {
    return [token];
  }
  const before = chainUpTo(tokens, index - 2);
  return before === undefined ? undefined : [...before, token];
}
