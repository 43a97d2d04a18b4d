/** Which names of the function that a program is stopped in have values that are worth a place beside their lines. */

import { beginsFunction, isAttribute, isKeywordArgument, isOperator } from "./names";
import { tokenize, type Token } from "./python-text";

export interface InlineName {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** A logical line, and how far it is indented. */
interface Line {
  readonly tokens: readonly Token[];
  readonly indentation: number;
}

/**
 * Return the variables of the scope that a line belongs to, from its first line to that one; `offset` is at the
 * end of the line.
 *
 * A scope is a function, a class or the module. Names of calls, attributes and keyword arguments, and all of scopes
 * within this one, are left out. A name appears once for each logical line.
 */
export function inlineNames(text: string, offset: number): InlineName[] {
  const scopes: { indentation: number; lines: Line[] }[] = [{ indentation: -1, lines: [] }];
  for (const line of linesUpTo(text, offset)) {
    while ((scopes.at(-1)?.indentation ?? -1) >= line.indentation) {
      scopes.pop();
    }
    if (beginsScope(line)) {
      scopes.push({ indentation: line.indentation, lines: [] });
    }
    scopes.at(-1)?.lines.push(line);
  }
  const current = scopes.pop();
  const isAtHeader = current?.lines.length === 1 && scopes.length > 0; // which the scope around it runs
  const lines = (isAtHeader ? scopes.at(-1) : current)?.lines ?? [];
  return lines.flatMap((line) => (beginsScope(line) ? parameters(line) : variables(line)));
}

function linesUpTo(text: string, offset: number): Line[] {
  const tokens = tokenize(text);
  const lines: Line[] = [];
  let start = 0;
  for (const [index, token] of tokens.entries()) {
    const first = tokens[start];
    if (token.kind !== "newline" || first === undefined) {
      continue;
    }
    if (first.start > offset) {
      break;
    }
    const column = first.start - (text.lastIndexOf("\n", first.start - 1) + 1);
    lines.push({ tokens: tokens.slice(start, index), indentation: column });
    start = index + 1;
  }
  return lines;
}

function beginsScope(line: Line): boolean {
  return beginsFunction(line.tokens, 0) || line.tokens[0]?.text === "class";
}

/** Return the parameters that the header of a function names; a class has none. */
function parameters({ tokens }: Line): InlineName[] {
  if (!beginsFunction(tokens, 0)) {
    return [];
  }
  const opening = tokens.findIndex((token) => isOperator(token, "("));
  return named(tokens, (index) => {
    const before = tokens[index - 1];
    const begins = index - 1 === opening || ["*", "**", ","].some((text) => isOperator(before, text));
    return index > opening && tokens[index]?.depth === 1 && begins;
  });
}

function variables({ tokens }: Line): InlineName[] {
  const imports = ["import", "from"].includes(tokens[0]?.text ?? "");
  return named(
    tokens,
    (index) =>
      !imports &&
      !isAttribute(tokens, index) &&
      !isKeywordArgument(tokens, index) &&
      !isOperator(tokens[index + 1], "("),
  );
}

function named(tokens: readonly Token[], isWanted: (index: number) => boolean): InlineName[] {
  const found = new Map<string, InlineName>();
  for (const [index, token] of tokens.entries()) {
    if (token.kind === "name" && !found.has(token.text) && isWanted(index)) {
      found.set(token.text, { name: token.text, start: token.start, end: token.end });
    }
  }
  return [...found.values()];
}
