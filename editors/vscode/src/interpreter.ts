/**
 * Which interpreter runs programs that name none.
 *
 * The first of: the setting `dapkit.interpreter`, what the Python extension has selected, a virtual environment in the
 * folder, `python3` and `python` on the PATH.
 */

import * as path from "node:path";

import { problemOfSetting } from "./problem";
import { findOnPath, isExecutable } from "./programs";

const ENVIRONMENTS = [".venv", "venv"] as const;

export interface Choices {
  readonly setting: string;
  readonly folder: string | undefined;
  readonly selected: () => Promise<string | undefined>;
}

export async function chosenInterpreter({ setting, folder, selected }: Choices): Promise<string> {
  const found =
    (setting || undefined) ??
    (await selected()) ??
    (folder === undefined ? undefined : await ofEnvironment(folder)) ??
    (await findOnPath("python3")) ??
    (await findOnPath("python"));
  if (found === undefined) {
    throw problemOfSetting("There is no Python interpreter on the PATH, and none is selected.", "dapkit.interpreter");
  }
  return found;
}

async function ofEnvironment(folder: string): Promise<string | undefined> {
  for (const name of ENVIRONMENTS) {
    const interpreter = path.join(folder, name, "bin", "python");
    if (await isExecutable(interpreter)) {
      return interpreter;
    }
  }
  return undefined;
}
