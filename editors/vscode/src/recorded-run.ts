/** The command that records what a configuration would debug. */

import * as path from "node:path";

import type { Configuration } from "./configuration";

export interface RecordedRun {
  readonly program: string;
  readonly args: string[];
  /** The name of the file that gets the recording. */
  readonly output: string;
}

/**
 * Return the command that records a run of a file, or of its tests.
 *
 * @param recorder - the interpreter, and the arguments by which it runs `dapkit record`.
 */
export function recordedRun(configuration: Configuration, recorder: readonly string[], now: Date): RecordedRun {
  const [interpreter = "", ...options] = recorder;
  const { program, module, args } = configuration;
  const command = typeof module === "string" ? ["-m", module, ...(args as string[])] : [String(program)];
  const file = String(command.at(-1));
  const time = now.toISOString().slice(0, 19).replaceAll(/\D/g, "");
  const output = `${path.basename(file, ".py")}-${time}.dapkit`;
  return { program: interpreter, args: [...options, "--output", output, interpreter, ...command], output };
}
