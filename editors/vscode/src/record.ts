/** Record a run of a file in a terminal, and offer to debug the recording when the run has ended. */

import * as fs from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";

import type { AdapterCommands } from "./adapter-factory";
import { currentFile } from "./configuration";
import { needsLinux } from "./platform";
import { recordedRun } from "./recorded-run";

const DEBUG = "Debug the recording";

export async function recordFile(
  commands: AdapterCommands,
  file = vscode.window.activeTextEditor?.document.uri,
): Promise<void> {
  const problem = file === undefined ? "There is no file to record: open one first." : needsLinux("Recording a run");
  if (file === undefined || problem !== undefined) {
    await vscode.window.showErrorMessage(problem ?? "");
    return;
  }
  const document = await vscode.workspace.openTextDocument(file);
  await document.save();
  const folder = vscode.workspace.getWorkspaceFolder(file);
  const configuration = currentFile(file.fsPath, document.getText());
  const run = recordedRun(configuration, await commands.record(configuration, folder), new Date());
  const cwd = folder?.uri.fsPath ?? path.dirname(file.fsPath);
  await ended(
    new vscode.Task(
      { type: "dapkit" },
      folder ?? vscode.TaskScope.Workspace,
      `Record ${path.basename(file.fsPath)}`,
      "dapkit",
      new vscode.ProcessExecution(run.program, run.args, { cwd }),
    ),
  );
  const recording = path.join(cwd, run.output);
  const size = await fs.stat(recording).then(
    (stat) => stat.size,
    () => 0,
  );
  if (size === 0) {
    return; // the terminal shows why
  }
  if ((await vscode.window.showInformationMessage(`${run.output} has the recorded run.`, DEBUG)) === DEBUG) {
    await vscode.commands.executeCommand("dapkit.openRecording", vscode.Uri.file(recording));
  }
}

/** Run a task, and wait for its end. */
async function ended(task: vscode.Task): Promise<void> {
  let execution: vscode.TaskExecution | undefined;
  let ending: vscode.Disposable | undefined;
  const end = new Promise<void>((resolve) => {
    ending = vscode.tasks.onDidEndTask((event) => {
      if (event.execution === execution || event.execution.task === task) {
        resolve();
      }
    });
  });
  try {
    execution = await vscode.tasks.executeTask(task);
    await end;
  } finally {
    ending?.dispose();
  }
}
