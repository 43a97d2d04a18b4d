/** Programs that are run to ask them something. */

import { execFile } from "node:child_process";
import * as fs from "node:fs/promises";
import * as path from "node:path";

import { programFile } from "./platform";

const ANSWER_MILLISECONDS = 20_000;

/** Run a command; return what it wrote to standard output, or undefined if it cannot be run or fails. */
export function answerOf(command: readonly string[]): Promise<string | undefined> {
  const [program = "", ...args] = command;
  return new Promise((resolve) => {
    execFile(program, args, { timeout: ANSWER_MILLISECONDS, encoding: "utf8" }, (error, output) => {
      resolve(error === null ? output : undefined);
    });
  });
}

export async function isExecutable(file: string): Promise<boolean> {
  try {
    await fs.access(file, fs.constants.X_OK);
    return (await fs.stat(file)).isFile();
  } catch {
    return false;
  }
}

/**
 * Whether a file, and what it links to, belongs to the user or to root: a stranger may have put another there.
 *
 * On Windows files have no owners that Node.js knows, and each one passes.
 */
export async function isOfUser(file: string): Promise<boolean> {
  const owners = [0, process.getuid?.() ?? 0];
  try {
    return [await fs.lstat(file), await fs.stat(file)].every((status) => owners.includes(status.uid));
  } catch {
    return false;
  }
}

/** Return the first program of a name in the folders of a search path. */
export async function findOnPath(name: string, searchPath = process.env["PATH"] ?? ""): Promise<string | undefined> {
  for (const folder of searchPath.split(path.delimiter).filter(Boolean)) {
    const file = path.join(folder, programFile(name));
    if (await isExecutable(file)) {
      return file;
    }
  }
  return undefined;
}
