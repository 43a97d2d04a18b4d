/** code-server with the packaged extension, and nothing else of the user's, on a port of its own. */

import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs/promises";
import * as net from "node:net";
import * as path from "node:path";
import { promisify } from "node:util";

const ENTRY = path.resolve(__dirname, "../../code-server/node_modules/code-server/out/node/entry.js");

const SETTINGS = {
  "debug.inlineValues": "on",
  "debug.onTaskErrors": "abort",
  "explorer.autoReveal": false,
  "extensions.autoCheckUpdates": false,
  "extensions.autoUpdate": false,
  "extensions.ignoreRecommendations": true,
  "files.simpleDialog.enable": true,
  "git.enabled": false,
  "security.workspace.trust.enabled": false,
  "telemetry.telemetryLevel": "off",
  "terminal.integrated.shellIntegration.enabled": false,
  "workbench.colorTheme": "Default Light Modern",
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
};

export interface CodeServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Start code-server with an extension; all that it writes goes to a folder. */
export async function startCodeServer(vsix: string, folder: string): Promise<CodeServer> {
  const [data, extensions] = [path.join(folder, "data"), path.join(folder, "extensions")];
  await fs.mkdir(path.join(data, "User"), { recursive: true });
  await fs.writeFile(path.join(data, "User/settings.json"), JSON.stringify(SETTINGS));
  await fs.writeFile(path.join(folder, "config.yaml"), "auth: none\n");
  const places = [
    "--config",
    path.join(folder, "config.yaml"),
    "--user-data-dir",
    data,
    "--extensions-dir",
    extensions,
  ];
  await promisify(execFile)(process.execPath, [ENTRY, ...places, "--install-extension", vsix]);

  const port = await freePort();
  const quiet = ["--disable-telemetry", "--disable-update-check", "--disable-getting-started-override"];
  const server = spawn(
    process.execPath,
    [ENTRY, ...places, ...quiet, "--auth", "none", "--bind-addr", `127.0.0.1:${String(port)}`],
    { stdio: ["ignore", "pipe", "ignore"], detached: true },
  );
  await listening(server);
  return { url: `http://127.0.0.1:${String(port)}/`, stop: () => stop(server) };
}

function listening(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = "";
    server.stdout?.on("data", (data: Buffer) => {
      output += data.toString();
      if (output.includes("HTTP server listening")) {
        resolve();
      }
    });
    server.once("exit", () => {
      reject(new Error(`code-server ended before it listened: ${output}`));
    });
  });
}

/** End the server and all that it has started: they are a process group. */
async function stop(server: ChildProcess): Promise<void> {
  if (server.pid === undefined || server.exitCode !== null) {
    return;
  }
  const exit = once(server, "exit");
  process.kill(-server.pid, "SIGTERM");
  await exit;
}

/** Return a port that nobody listens on. */
export async function freePort(): Promise<number> {
  const probe = net.createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as net.AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}
