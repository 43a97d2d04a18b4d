/** The commands of the extension. */

import * as path from "node:path";
import * as vscode from "vscode";

import type { AdapterCommands, AdapterFactory } from "./adapter-factory";
import { currentFile, recording, type Configuration } from "./configuration";
import { needsLinux } from "./platform";
import { processesOf } from "./processes";
import { recordFile } from "./record";

let latestArguments = "";

export function registerCommands(factory: AdapterFactory, commands: AdapterCommands): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.commands.registerCommand("dapkit.debugFile", debugFile),
    vscode.commands.registerCommand("dapkit.openRecording", openRecording),
    vscode.commands.registerCommand("dapkit.recordFile", (file?: vscode.Uri) => recordFile(commands, file)),
    vscode.commands.registerCommand("dapkit.pickProcess", pickProcess),
    vscode.commands.registerCommand("dapkit.pickArguments", pickArguments),
    vscode.commands.registerCommand("dapkit.openTranscript", () => openTranscript(factory.transcript)),
  );
}

/** Debug the file of an editor, or of the active one. */
async function debugFile(file = vscode.window.activeTextEditor?.document.uri): Promise<void> {
  if (file === undefined) {
    await vscode.window.showErrorMessage("There is no file to debug: open one first.");
    return;
  }
  const text = (await vscode.workspace.openTextDocument(file)).getText();
  await start(file, currentFile(file.fsPath, text));
}

/** Let the user choose a recording, and debug it. */
async function openRecording(given?: vscode.Uri): Promise<void> {
  const filters = { Recordings: ["dapkit"], "All files": ["*"] };
  const [file] = given ? [given] : ((await vscode.window.showOpenDialog({ filters, openLabel: "Debug" })) ?? []);
  if (file !== undefined) {
    await start(file, recording(file.fsPath));
  }
}

async function start(file: vscode.Uri, configuration: Configuration): Promise<void> {
  const whole = configuration as unknown as vscode.DebugConfiguration; // all of its keys are there
  await vscode.debug.startDebugging(vscode.workspace.getWorkspaceFolder(file), whole);
}

/** Let the user choose a process; return its id, or undefined if none was chosen. */
async function pickProcess(): Promise<string | undefined> {
  const problem = needsLinux("Attaching to a process by its number");
  if (problem !== undefined) {
    const advice = "Let the program listen with `python -m dapkit --listen 5678 PROGRAM`, and attach by that port.";
    await vscode.window.showErrorMessage(`${problem} ${advice}`);
    return undefined;
  }
  const processes = await processesOf(process.getuid?.() ?? 0);
  const chosen = await vscode.window.showQuickPick(
    processes.map((each) => ({
      label: each.name,
      description: String(each.id),
      detail: each.arguments.join(" "),
    })),
    {
      placeHolder: "The process to attach to; those of Python come first",
      matchOnDescription: true,
      matchOnDetail: true,
    },
  );
  return chosen?.description;
}

/** Let the user type the arguments of a program. */
async function pickArguments(): Promise<string | undefined> {
  const typed = await vscode.window.showInputBox({
    prompt: "Arguments of the program, as a shell reads them",
    value: latestArguments,
    ignoreFocusOut: true,
  });
  latestArguments = typed ?? latestArguments;
  return typed;
}

async function openTranscript(file: string | undefined): Promise<void> {
  if (file === undefined) {
    await vscode.window.showInformationMessage('No session had "trace": true in its configuration.');
    return;
  }
  await vscode.window.showTextDocument(vscode.Uri.file(path.resolve(file)));
}
