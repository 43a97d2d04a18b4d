/**
 * Which interpreter runs programs that name none.
 *
 * The first of: the setting `dapkit.interpreter`, what the Python extension has selected, a virtual environment in the
 * folder that belongs to the user or to root, `python3` and `python` on the PATH.
 */

import * as path from "node:path";

import { problemOfSetting } from "./problem";
import { findOnPath, isExecutable, isOfUser } from "./programs";

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
    const environment = path.join(folder, name);
    const interpreter = path.join(environment, "bin", "python");
    const places = [environment, path.dirname(interpreter), interpreter];
    if ((await isExecutable(interpreter)) && (await Promise.all(places.map(isOfUser))).every(Boolean)) {
      return interpreter;
    }
  }
  return undefined;
}
