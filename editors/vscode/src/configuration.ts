/**
 * What becomes of an entry of launch.json before the adapter gets it.
 *
 * Only what the adapter cannot know is filled in: the file and the folder that are open, and the interpreter that was
 * chosen. The meaning of all other keys, and their defaults, are the adapter's.
 */

export const TYPE = "dapkit";

/** Types of configurations for other debuggers of Python, whose keys dapkit takes as they are. */
export const OTHER_TYPES = ["debugpy", "python"] as const;

/** Where `debugServer` is kept from the editor, which would connect there without the token that dapkit asks for. */
export const SERVER_KEY = "__debugServer";

/** The key that names a job of many processes. */
const JOB_KEY = "job";

const INTERPRETER_COMMAND = "${command:python.interpreterPath}";
const INTERPRETER_KEYS = ["python", "pythonPath", "pythonpath"] as const;

export interface Configuration {
  [key: string]: unknown;
}

/** What is open and chosen in the editor. */
export interface Surroundings {
  /** Path of the active file, if it is one of Python. */
  readonly file?: string | undefined;
  /** Path of the folder that the configuration belongs to. */
  readonly folder?: string | undefined;
  /** Path of the file with environment variables that programs of this folder get, if there is one. */
  readonly envFile?: string | undefined;
  /** Find the interpreter for programs that name none. */
  readonly interpreter: () => Promise<string>;
}

/** Say whether there is no launch.json: the editor then gives a configuration without any of the keys that it requires. */
export function isEmpty(configuration: Configuration): boolean {
  return !configuration["type"] && !configuration["request"] && !configuration["name"];
}

const TEST_FILE = /(?:^|\/)(?:test_[^/]*|[^/]*_test)\.py$/;
const PYTEST_TEST = /^(?:(?:async )?def test|import pytest|from pytest )/m;

/** Return the configuration that runs a file: a file of tests for pytest by pytest, since running it does nothing. */
export function currentFile(file: string, text = ""): Configuration {
  if (TEST_FILE.test(file) && PYTEST_TEST.test(text) && !text.includes("__main__")) {
    const name = "Tests of the current file";
    return { type: TYPE, request: "launch", name, module: "pytest", args: [file], justMyCode: true };
  }
  return { type: TYPE, request: "launch", name: "Current file", program: file };
}

/** Return the configuration that opens a recording. */
export function recording(file: string): Configuration {
  return { type: TYPE, request: "launch", name: `Recording ${file.replace(/.*\//, "")}`, replay: file };
}

/** Return a configuration that is complete but for variables, which the editor puts in afterwards. */
export async function completed(given: Configuration, around: Surroundings): Promise<Configuration> {
  if (isOfChild(given)) {
    return given;
  }
  const configuration = withoutNulls(given);
  if (configuration["request"] === "launch") {
    const { folder, envFile } = around;
    setMissing(configuration, "console", "integratedTerminal");
    setMissing(configuration, "cwd", folder);
    setMissing(configuration, "envFile", envFile);
    if (!INTERPRETER_KEYS.some((key) => key in configuration)) {
      configuration["python"] = await around.interpreter();
    }
  }
  if (isOfJob(configuration)) {
    setMissing(configuration, "cwd", around.folder);
  }
  for (const key of INTERPRETER_KEYS) {
    if (configuration[key] === INTERPRETER_COMMAND) {
      configuration[key] = await around.interpreter();
    }
  }
  return configuration;
}

/** Return the same configuration for dapkit. */
export function takenOver(configuration: Configuration): Configuration {
  return { ...configuration, type: TYPE };
}

/** Return the entries for other debuggers among those of a launch.json, as dapkit runs them, under names of their own. */
export function offered(configurations: readonly Configuration[]): Configuration[] {
  return configurations
    .filter((configuration) => OTHER_TYPES.some((type) => type === configuration["type"]))
    .map((configuration) => ({ ...takenOver(configuration), name: `${String(configuration["name"])} (dapkit)` }));
}

/** Keep the port of a server from the editor; it is reached by dapkit. */
export function withOwnServer(configuration: Configuration): Configuration {
  const { debugServer, ...rest } = configuration;
  const port = Number(debugServer);
  return Number.isInteger(port) && port > 0 ? { ...rest, [SERVER_KEY]: port } : configuration;
}

/** Say whether the adapter itself has made the configuration, for a child process of a program. */
export function isOfChild(configuration: Configuration): boolean {
  return configuration["adapterSocket"] !== undefined && configuration["subProcessId"] !== undefined;
}

/** Say whether a configuration is for a job of many processes, which has an adapter of its own. */
export function isOfJob(configuration: Configuration): boolean {
  return configuration["request"] === "attach" && configuration[JOB_KEY] !== undefined;
}

/** Return the interpreter that a configuration names, which may have arguments behind it. */
export function interpreterOf(configuration: Configuration): string | undefined {
  for (const key of ["debugAdapterPython", ...INTERPRETER_KEYS]) {
    const value: unknown = configuration[key];
    const first: unknown = Array.isArray(value) ? value[0] : value;
    if (typeof first === "string" && first !== "") {
      return first;
    }
  }
  return undefined;
}

/** `null` is as good as nothing; inside of `env` and other objects it has a meaning. */
function withoutNulls(configuration: Configuration): Configuration {
  return Object.fromEntries(Object.entries(configuration).filter(([, value]) => value !== null));
}

function setMissing(configuration: Configuration, key: string, value: string | undefined): void {
  if (value !== undefined && configuration[key] === undefined) {
    configuration[key] = value;
  }
}
