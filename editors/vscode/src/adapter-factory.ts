/** How each session reaches its adapter: a process of its own, or the socket of one that runs. */

import * as fs from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";

import { adapterCommand, recordCommand, type AdapterOptions } from "./adapter-command";
import { TYPE, type Configuration } from "./configuration";
import { Problem } from "./problem";
import { isOfUser } from "./programs";
import { interpreterFor, selectInterpreterCommand, settingOf } from "./surroundings";
import { transcriptFile } from "./transcript";

/** The commands of adapters, as the settings have them. */
export class AdapterCommands {
  constructor(private readonly context: vscode.ExtensionContext) {}

  /** Return the command for a configuration. */
  of(configuration: Configuration, folder: vscode.WorkspaceFolder | undefined): Promise<string[]> {
    return adapterCommand(configuration, this.options(folder));
  }

  private options(folder: vscode.WorkspaceFolder | undefined): AdapterOptions {
    const { dapkit } = this.context.extension.packageJSON as { dapkit: { oldest: string } };
    return {
      bundled: this.context.asAbsolutePath("bundled"),
      configured: settingOf<string[]>(folder, "adapterCommand", []),
      oldest: dapkit.oldest,
      interpreter: () => interpreterFor(folder),
      selectInterpreter: selectInterpreterCommand(),
    };
  }

  /** Return the command that records programs. */
  async record(configuration: Configuration, folder: vscode.WorkspaceFolder | undefined): Promise<string[]> {
    return recordCommand(configuration, this.options(folder));
  }

  /**
   * See to it that there is an adapter for a configuration.
   *
   * @throws Problem: there is none.
   */
  async check(configuration: Configuration, folder: vscode.WorkspaceFolder | undefined): Promise<void> {
    if (configuration["adapterSocket"] === undefined) {
      await this.of(configuration, folder);
    }
  }
}

export class AdapterFactory implements vscode.DebugAdapterDescriptorFactory {
  /** The file that the messages of the latest session with `trace` are in. */
  transcript: string | undefined;

  constructor(
    private readonly commands: AdapterCommands,
    private readonly logs: string,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  register(): vscode.Disposable {
    return vscode.debug.registerDebugAdapterDescriptorFactory(TYPE, this);
  }

  async createDebugAdapterDescriptor(session: vscode.DebugSession): Promise<vscode.DebugAdapterDescriptor> {
    const { configuration, workspaceFolder } = session;
    const socket: unknown = configuration["adapterSocket"];
    if (typeof socket === "string") {
      if (!(await isOfUser(socket))) {
        throw new Problem(`adapterSocket: ${socket} is missing, or belongs to another user`);
      }
      this.log.info(`${session.name}: the adapter is at ${socket}`);
      return new vscode.DebugAdapterNamedPipeServer(socket);
    }
    const [program = "", ...args] = await this.commands.of(configuration, workspaceFolder);
    args.push(...(await this.transcriptOptions(session)));
    this.log.info(`${session.name}: the adapter is ${[program, ...args].join(" ")}`);
    return new vscode.DebugAdapterExecutable(program, args);
  }

  private async transcriptOptions({ configuration, workspaceFolder }: vscode.DebugSession): Promise<string[]> {
    const places = { logs: this.logs, folder: workspaceFolder?.uri.fsPath, now: new Date() };
    const file = transcriptFile(configuration["trace"], places);
    if (file === undefined) {
      return [];
    }
    await fs.mkdir(path.dirname(file), { recursive: true });
    this.transcript = file;
    return ["--transcript", file];
  }
}
