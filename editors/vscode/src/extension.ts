/** The extension: everything is registered here, and decided in the other modules. */

import * as vscode from "vscode";

import { AdapterCommands, AdapterFactory } from "./adapter-factory";
import { registerCommands } from "./commands";
import { registerConfigurationProviders } from "./configuration-provider";
import { LanguageFeatures } from "./language-features";

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("dapkit", { log: true });
  const commands = new AdapterCommands(context);
  const factory = new AdapterFactory(commands, context.logUri.fsPath, log);
  context.subscriptions.push(
    log,
    factory.register(),
    registerConfigurationProviders(commands),
    registerCommands(factory, commands),
    new LanguageFeatures(),
  );
}
