/**
 * The command that starts the adapter: dapkit as it is bundled, or as the setting `dapkit.adapterCommand` says.
 *
 * The bundled one is a folder that an interpreter runs (`python -I FOLDER`): the one that runs the program, so that there
 * has to be only one. Interpreters and adapters that were found to serve are not asked again.
 */

import * as os from "node:os";
import * as path from "node:path";

import { SERVER_KEY, interpreterOf, isOfJob, type Configuration } from "./configuration";
import { isPath } from "./platform";
import { Problem, problemOfSetting } from "./problem";
import { answerOf, findOnPath } from "./programs";
import { PYTHON_PROBE, objectionToAdapter, objectionToPython } from "./versions";

export interface AdapterOptions {
  /** The folder with the bundled dapkit. */
  readonly bundled: string;
  /** The value of `dapkit.adapterCommand`; empty for the bundled one. */
  readonly configured: readonly string[];
  /** The oldest dapkit that serves. */
  readonly oldest: string;
  /** Find the interpreter for configurations that name none. */
  readonly interpreter: () => Promise<string>;
  /** The command of the Python extension that selects an interpreter, if there is one. */
  readonly selectInterpreter?: string | undefined;
}

const approved = new Set<string>();

/**
 * Return the command for a configuration.
 *
 * @throws Problem: the interpreter, or the adapter, does not serve.
 */
export async function adapterCommand(configuration: Configuration, options: AdapterOptions): Promise<string[]> {
  const port = configuration[SERVER_KEY];
  if (typeof port === "number") {
    return [...(await bundledCommand(configuration, options)), "proxy", "--connect", `127.0.0.1:${String(port)}`];
  }
  if (isOfJob(configuration)) {
    return [...(await bundledCommand(configuration, options)), "job"];
  }
  if (options.configured.length > 0) {
    await approve([options.oldest, ...options.configured].join("\0"), async () => {
      const answer = (await answerOf([...options.configured, "--version"])) ?? "";
      const objection = objectionToAdapter(options.configured, answer, options.oldest);
      return objection && problemOfSetting(`${objection} Update it, or clear the setting.`, "dapkit.adapterCommand");
    });
    return [...options.configured];
  }
  return bundledCommand(configuration, options);
}

/**
 * Return the interpreter, and the arguments by which it runs `dapkit record`, which comes with the extension.
 *
 * @throws Problem: the interpreter does not serve.
 */
export async function recordCommand(configuration: Configuration, options: AdapterOptions): Promise<string[]> {
  return [...(await bundledCommand(configuration, options)), "record"];
}

async function bundledCommand(configuration: Configuration, options: AdapterOptions): Promise<string[]> {
  const named = interpreterOf(configuration) ?? (await options.interpreter());
  const interpreter = await located(named, configuration["cwd"]);
  await approve(interpreter, async () => {
    const answer = (await answerOf([interpreter, "-I", "-c", PYTHON_PROBE])) ?? "";
    const objection = objectionToPython(interpreter, answer);
    return objection && problemOfInterpreter(objection, options.selectInterpreter);
  });
  return [interpreter, "-I", options.bundled];
}

/** A name is looked for on the PATH, a path is relative to the folder of the program. */
async function located(named: string, cwd: unknown): Promise<string> {
  if (!isPath(named)) {
    return (await findOnPath(named)) ?? named;
  }
  return path.resolve(typeof cwd === "string" ? cwd : "", named.replace(/^~(?=[\\/])/, os.homedir()));
}

function problemOfInterpreter(objection: string, selectInterpreter: string | undefined): Problem {
  return selectInterpreter === undefined
    ? problemOfSetting(objection, "dapkit.interpreter")
    : new Problem(objection, { label: "Select interpreter", command: selectInterpreter, args: [] });
}

async function approve(name: string, ask: () => Promise<Problem | "" | undefined>): Promise<void> {
  if (approved.has(name)) {
    return;
  }
  const problem = await ask();
  if (problem) {
    throw problem;
  }
  approved.add(name);
}
