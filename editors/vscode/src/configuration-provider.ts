/** Completes configurations for the editor, and offers those that can be started without a launch.json. */

import * as vscode from "vscode";

import type { AdapterCommands } from "./adapter-factory";
import {
  OTHER_TYPES,
  TYPE,
  completed,
  currentFile,
  isEmpty,
  offered,
  takenOver,
  withOwnServer,
  type Configuration,
} from "./configuration";
import { Problem } from "./problem";
import { envFileOf, settingOf, surroundingsOf } from "./surroundings";

type Folder = vscode.WorkspaceFolder | undefined;
type Resolved = vscode.DebugConfiguration | undefined;

export function registerConfigurationProviders(commands: AdapterCommands): vscode.Disposable {
  const dynamic = vscode.DebugConfigurationProviderTriggerKind.Dynamic;
  return vscode.Disposable.from(
    vscode.debug.registerDebugConfigurationProvider(TYPE, new ConfigurationProvider(commands)),
    vscode.debug.registerDebugConfigurationProvider(TYPE, { provideDebugConfigurations: offers }, dynamic),
    ...OTHER_TYPES.map((type) =>
      vscode.debug.registerDebugConfigurationProvider(type, { resolveDebugConfiguration: takeOver }),
    ),
  );
}

class ConfigurationProvider implements vscode.DebugConfigurationProvider {
  constructor(private readonly commands: AdapterCommands) {}

  async resolveDebugConfiguration(folder: Folder, given: vscode.DebugConfiguration): Promise<Resolved> {
    return reported(async () => {
      const around = { ...surroundingsOf(folder), envFile: await envFileOf(folder) };
      if (!isEmpty(given)) {
        return forEditor(await completed(given, around));
      }
      if (around.file === undefined) {
        throw new Problem("There is no launch.json, and the active editor has no Python file that could be debugged.");
      }
      return forEditor(await completed(currentFile(around.file, around.text), around));
    });
  }

  /** Check the adapter here already: an error of its factory would be shown without a way to cure it. */
  async resolveDebugConfigurationWithSubstitutedVariables(
    folder: Folder,
    given: vscode.DebugConfiguration,
  ): Promise<Resolved> {
    return reported(async () => {
      const configuration = forEditor(withOwnServer(given));
      await this.commands.check(configuration, folder);
      return configuration;
    });
  }
}

/** Offer the current file, and what launch.json has for other debuggers of Python. */
function offers(folder: Folder): vscode.DebugConfiguration[] {
  const written = vscode.workspace.getConfiguration("launch", folder).get<Configuration[]>("configurations") ?? [];
  return [currentFile("${file}"), ...offered(written)].map(forEditor);
}

/** Run a configuration for another debugger by dapkit, if the user wants that, or there is no such debugger. */
function takeOver(folder: Folder, given: vscode.DebugConfiguration): vscode.DebugConfiguration {
  const wanted = settingOf<string>(folder, "takeOverDebugpy", "ifMissing");
  const takes = wanted === "always" || (wanted === "ifMissing" && !hasDebugger(given.type));
  return takes ? forEditor(takenOver(given)) : given;
}

function hasDebugger(type: string): boolean {
  return vscode.extensions.all.some(({ packageJSON }) => {
    const { contributes } = packageJSON as { contributes?: { debuggers?: { type?: string }[] } };
    return contributes?.debuggers?.some((contributed) => contributed.type === type) ?? false;
  });
}

function forEditor(configuration: Configuration): vscode.DebugConfiguration {
  return configuration as unknown as vscode.DebugConfiguration; // whose three required keys it has by now
}

/** Show a problem, with its cure; nothing is started then. */
async function reported(resolve: () => Promise<vscode.DebugConfiguration>): Promise<Resolved> {
  try {
    return await resolve();
  } catch (error) {
    if (!(error instanceof Problem)) {
      throw error;
    }
    void offerCure(error);
    return undefined;
  }
}

async function offerCure({ message, cure }: Problem): Promise<void> {
  const chosen = await vscode.window.showErrorMessage(message, ...(cure === undefined ? [] : [cure.label]));
  if (cure !== undefined && chosen === cure.label) {
    await vscode.commands.executeCommand(cure.command, ...cure.args);
  }
}
