/** What is open, set and chosen in the editor, as configurations need it. */

import * as path from "node:path";
import * as vscode from "vscode";

import type { PythonExtension } from "@vscode/python-extension";

import type { Surroundings } from "./configuration";
import { chosenInterpreter } from "./interpreter";
import { isExecutable } from "./programs";

const PYTHON_EXTENSION = "ms-python.python";

export function surroundingsOf(
  folder: vscode.WorkspaceFolder | undefined,
): Surroundings & { folder?: string | undefined; text?: string | undefined } {
  const document = vscode.window.activeTextEditor?.document;
  const isFile = document?.languageId === "python" && document.uri.scheme === "file";
  return {
    file: isFile ? document.uri.fsPath : undefined,
    text: isFile ? document.getText() : undefined,
    folder: folder?.uri.fsPath,
    interpreter: () => interpreterFor(folder),
  };
}

/** Find the interpreter for programs of a folder. */
export function interpreterFor(folder: vscode.WorkspaceFolder | undefined): Promise<string> {
  const setting = settingOf(folder, "interpreter", "").replaceAll("${workspaceFolder}", folder?.uri.fsPath ?? "");
  return chosenInterpreter({ setting, folder: folder?.uri.fsPath, selected: () => selectedInterpreter(folder) });
}

/** Return the file with environment variables that programs of a folder get, if there is one. */
export async function envFileOf(folder: vscode.WorkspaceFolder | undefined): Promise<string | undefined> {
  if (folder === undefined) {
    return undefined;
  }
  const named = vscode.workspace.getConfiguration("python", folder).get<string>("envFile") ?? "${workspaceFolder}/.env";
  const file = path.resolve(folder.uri.fsPath, named.replaceAll("${workspaceFolder}", folder.uri.fsPath));
  const found = await Promise.resolve(vscode.workspace.fs.stat(vscode.Uri.file(file))).catch(() => undefined);
  return found?.type === vscode.FileType.File ? file : undefined;
}

/** Return a setting of this extension, for a folder. */
export function settingOf<T>(folder: vscode.WorkspaceFolder | undefined, name: string, otherwise: T): T {
  return vscode.workspace.getConfiguration("dapkit", folder).get<T>(name) ?? otherwise;
}

/** The command that selects an interpreter, where the Python extension is installed. */
export function selectInterpreterCommand(): string | undefined {
  return vscode.extensions.getExtension(PYTHON_EXTENSION) === undefined ? undefined : "python.setInterpreter";
}

/** Return the interpreter that the Python extension has selected for a folder. */
async function selectedInterpreter(folder: vscode.WorkspaceFolder | undefined): Promise<string | undefined> {
  const extension = vscode.extensions.getExtension<PythonExtension>(PYTHON_EXTENSION);
  if (extension === undefined) {
    return undefined;
  }
  const { environments } = await extension.activate();
  const resolved = await environments.resolveEnvironment(environments.getActiveEnvironmentPath(folder?.uri));
  const interpreter = resolved?.executable.uri?.fsPath;
  return interpreter !== undefined && (await isExecutable(interpreter)) ? interpreter : undefined;
}
