/**
 * Python source as tokens: enough of them to know which words are names of code, and to which line each belongs.
 *
 * Text of strings and comments gives no names; replacement fields of f-strings do. Whether the text is valid Python is
 * not looked at: a file that is edited while a program is stopped seldom is.
 */

export type TokenKind = "name" | "keyword" | "number" | "string" | "operator" | "newline";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** How many brackets are open around it; a bracket itself counts as outside of what it encloses. */
  readonly depth: number;
}

const KEYWORDS = new Set(
  (
    "False None True and as assert async await break class continue def del elif else except finally for from global " +
    "if import in is lambda nonlocal not or pass raise return try while with yield"
  ).split(" "),
);

const SKIPPED = /(?:[ \t\f\r]|\\\r?\n|#[^\n]*)+/y;
const STRING = /([rbuft]{0,2})("""|'''|"|')/iy;
const NAME = /[\p{ID_Start}_]\p{ID_Continue}*/uy;
const NUMBER = /\.?\d(?:[eE][+-]|[\w.])*/y;
const OPERATOR = /\.\.\.|->|:=|\*\*=?|\/\/=?|<<=?|>>=?|[-+*/%@&|^=!<>]=|[^\s\w]/uy;

/** Return the tokens of a text, in order. A `newline` ends each logical line that has any other token. */
export function tokenize(text: string): Token[] {
  const lexer = new Lexer(text);
  lexer.readCode(false);
  return lexer.tokens;
}

class Lexer {
  readonly tokens: Token[] = [];
  private position = 0;
  private depth = 0;

  constructor(private readonly text: string) {}

  /** Read code up to the end of the text; in a replacement field, up to what ends its expression. */
  readCode(inField: boolean): void {
    const outside = this.depth;
    while (this.position < this.text.length) {
      if (this.match(SKIPPED) !== undefined) {
        continue;
      }
      const character = this.text.charAt(this.position);
      if (inField && this.depth === outside && this.endsExpression(character)) {
        return;
      }
      if (character === "\n") {
        this.readLineEnd();
      } else {
        this.readToken(character);
      }
    }
    if (!inField) {
      this.readLineEnd();
    }
  }

  private endsExpression(character: string): boolean {
    return character === "}" || character === ":" || (character === "!" && this.text[this.position + 1] !== "=");
  }

  private readLineEnd(): void {
    const last = this.tokens.at(-1);
    if (this.depth === 0 && last !== undefined && last.kind !== "newline") {
      this.add("newline", this.position, this.position + 1);
    }
    this.position += 1;
  }

  private readToken(character: string): void {
    const start = this.position;
    const string = this.match(STRING);
    if (string !== undefined) {
      this.readString(start, string);
    } else if (this.match(NUMBER) !== undefined) {
      this.add("number", start, this.position);
    } else if (this.match(NAME) !== undefined) {
      const kind = KEYWORDS.has(this.text.slice(start, this.position)) ? "keyword" : "name";
      this.add(kind, start, this.position);
    } else if (this.match(OPERATOR) !== undefined) {
      this.readOperator(start, character);
    } else {
      this.position += 1;
    }
  }

  private readOperator(start: number, character: string): void {
    if (")]}".includes(character)) {
      this.depth = Math.max(0, this.depth - 1);
    }
    this.add("operator", start, this.position);
    if ("([{".includes(character)) {
      this.depth += 1;
    }
  }

  private readString(start: number, opening: RegExpExecArray): void {
    const [, prefix = "", quote = ""] = opening;
    this.add("string", start, this.position);
    const hasFields = /[ft]/i.test(prefix);
    while (this.position < this.text.length) {
      const character = this.text.charAt(this.position);
      if (this.text.startsWith(quote, this.position)) {
        this.position += quote.length;
        return;
      }
      if (character === "\n" && quote.length === 1) {
        return; // not closed: the line is being written
      }
      if (character === "\\") {
        this.position += 2;
      } else if (hasFields && this.text.startsWith("{{", this.position)) {
        this.position += 2;
      } else if (hasFields && character === "{") {
        this.readField(quote);
      } else {
        this.position += 1;
      }
    }
  }

  /** Read a replacement field: an expression, perhaps a conversion, perhaps a format with fields of its own. */
  private readField(quote: string): void {
    this.position += 1;
    this.depth += 1;
    this.readCode(true);
    while (this.position < this.text.length) {
      const character = this.text.charAt(this.position);
      if (character === "{") {
        this.readField(quote);
      } else if (character === "}") {
        this.position += 1;
        break;
      } else if (this.text.startsWith(quote, this.position) || character === "\n") {
        break; // not closed
      } else {
        this.position += 1;
      }
    }
    this.depth -= 1;
  }

  private match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.position;
    const found = pattern.exec(this.text);
    if (found === null) {
      return undefined;
    }
    this.position = pattern.lastIndex;
    return found;
  }

  private add(kind: TokenKind, start: number, end: number): void {
    this.tokens.push({ kind, text: this.text.slice(start, end), start, end, depth: this.depth });
  }
}
