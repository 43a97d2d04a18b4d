/** What a name in the source is there for: facts that hover expressions and inline values share. */

import type { Token } from "./python-text";

/** Say whether the name is that of a keyword argument: `size` in `resize(size=3)`. */
export function isKeywordArgument(tokens: readonly Token[], index: number): boolean {
  const token = tokens[index];
  return (
    token !== undefined && token.depth > 0 && isOperator(tokens[index + 1], "=") && !isInHeaderOfFunction(tokens, index)
  );
}

/** Say whether the name follows a dot: an attribute, or the module of a relative import. */
export function isAttribute(tokens: readonly Token[], index: number): boolean {
  return isOperator(tokens[index - 1], ".");
}

export function isOperator(token: Token | undefined, text: string): boolean {
  return token?.kind === "operator" && token.text === text;
}

/** Return where the logical line that a token belongs to begins. */
export function startOfLine(tokens: readonly Token[], index: number): number {
  let start = index;
  while (start > 0 && tokens[start - 1]?.kind !== "newline") {
    start -= 1;
  }
  return start;
}

/** Say whether a logical line that begins at a token is the header of a function. */
export function beginsFunction(tokens: readonly Token[], start: number): boolean {
  const first = tokens[start]?.text;
  return first === "def" || (first === "async" && tokens[start + 1]?.text === "def");
}

function isInHeaderOfFunction(tokens: readonly Token[], index: number): boolean {
  return tokens[index]?.depth === 1 && beginsFunction(tokens, startOfLine(tokens, index));
}
