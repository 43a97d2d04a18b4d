/** The processes of the user, those that seem to run Python first. */

import * as fs from "node:fs/promises";
import * as path from "node:path";

export interface Process {
  readonly id: number;
  readonly name: string;
  readonly arguments: readonly string[];
  readonly isPython: boolean;
}

/** Read the processes that a user could attach to; this process is not among them. */
export async function processesOf(user: number, root = "/proc"): Promise<Process[]> {
  const names = (await fs.readdir(root)).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const found = await Promise.all(names.map((name) => readProcess(path.join(root, name), user)));
  return found
    .filter((each) => each !== undefined)
    .sort((left, right) => Number(right.isPython) - Number(left.isPython) || right.id - left.id);
}

/** Read one; undefined if it is somebody else's, one of the kernel, or has ended. */
async function readProcess(folder: string, user: number): Promise<Process | undefined> {
  try {
    const { uid } = await fs.stat(folder);
    const words = (await fs.readFile(path.join(folder, "cmdline"), "utf8")).split("\0").filter(Boolean);
    const executable = await fs.readlink(path.join(folder, "exe")).catch(() => words[0] ?? "");
    if ((uid !== user && user !== 0) || words.length === 0) {
      return undefined;
    }
    const name = path.basename(words[0] ?? "");
    const isPython = [executable, name].some((program) => /^python[\d.]*/.test(path.basename(program)));
    return { id: Number(path.basename(folder)), name, arguments: words.slice(1), isPython };
  } catch {
    return undefined;
  }
}
