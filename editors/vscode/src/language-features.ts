/** What hovering and inline values show, in Python files, while a session of dapkit is there. */

import * as vscode from "vscode";

import { TYPE } from "./configuration";
import { hoverExpression } from "./hover-expression";
import { inlineNames } from "./inline-names";

const PYTHON: vscode.DocumentSelector = { language: "python" };

/** Have these features registered as long as there is a session: they would change those of other debuggers. */
export class LanguageFeatures implements vscode.Disposable {
  private readonly sessions = new Set<string>();
  private readonly listeners = vscode.Disposable.from(
    vscode.debug.onDidStartDebugSession((session) => {
      this.started(session);
    }),
    vscode.debug.onDidTerminateDebugSession((session) => {
      this.ended(session);
    }),
  );
  private features: vscode.Disposable | undefined;

  dispose(): void {
    this.listeners.dispose();
    this.features?.dispose();
  }

  private started(session: vscode.DebugSession): void {
    if (session.type === TYPE) {
      this.sessions.add(session.id);
      this.features ??= vscode.Disposable.from(
        vscode.languages.registerEvaluatableExpressionProvider(PYTHON, { provideEvaluatableExpression }),
        vscode.languages.registerInlineValuesProvider(PYTHON, { provideInlineValues }),
      );
    }
  }

  private ended(session: vscode.DebugSession): void {
    if (this.sessions.delete(session.id) && this.sessions.size === 0) {
      this.features?.dispose();
      this.features = undefined;
    }
  }
}

function provideEvaluatableExpression(
  document: vscode.TextDocument,
  position: vscode.Position,
): vscode.EvaluatableExpression | undefined {
  const found = hoverExpression(document.getText(), document.offsetAt(position));
  return found && new vscode.EvaluatableExpression(rangeOf(document, found), found.expression);
}

function provideInlineValues(
  document: vscode.TextDocument,
  visible: vscode.Range,
  context: vscode.InlineValueContext,
): vscode.InlineValue[] {
  const line = document.lineAt(Math.min(context.stoppedLocation.start.line, document.lineCount - 1));
  return inlineNames(document.getText(), document.offsetAt(line.range.end))
    .map((found) => ({ range: rangeOf(document, found), name: found.name }))
    .filter(({ range }) => visible.intersection(range) !== undefined)
    .map(({ range, name }) => new vscode.InlineValueVariableLookup(range, name, true));
}

function rangeOf(document: vscode.TextDocument, found: { readonly start: number; readonly end: number }): vscode.Range {
  return new vscode.Range(document.positionAt(found.start), document.positionAt(found.end));
}
