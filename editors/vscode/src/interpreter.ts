/**
 * Which interpreter runs programs that name none.
 *
 * The first of: the setting `dapkit.interpreter`, what the Python extension has selected, a virtual environment in the
 * folder that belongs to the user or to root, `python3` and `python` on the PATH (on Windows the other way round).
 */

import * as path from "node:path";

import { IS_WINDOWS, interpreterIn, interpreterNames } from "./platform";
import { problemOfSetting } from "./problem";
import { findOnPath, isExecutable, isOfUser } from "./programs";

const ENVIRONMENTS = [".venv", "venv"] as const;

export interface Choices {
  readonly setting: string;
  readonly folder: string | undefined;
  readonly selected: () => Promise<string | undefined>;
  readonly isWindows?: boolean;
}

export async function chosenInterpreter(choices: Choices): Promise<string> {
  const { setting, folder, selected, isWindows = IS_WINDOWS } = choices;
  const found =
    (setting || undefined) ??
    (await selected()) ??
    (folder === undefined ? undefined : await ofEnvironment(folder, isWindows)) ??
    (await firstOnPath(interpreterNames(isWindows)));
  if (found === undefined) {
    throw problemOfSetting("There is no Python interpreter on the PATH, and none is selected.", "dapkit.interpreter");
  }
  return found;
}

async function firstOnPath(names: readonly string[]): Promise<string | undefined> {
  for (const name of names) {
    const file = await findOnPath(name);
    if (file !== undefined) {
      return file;
    }
  }
  return undefined;
}

async function ofEnvironment(folder: string, isWindows: boolean): Promise<string | undefined> {
  for (const name of ENVIRONMENTS) {
    const environment = path.join(folder, name);
    const interpreter = interpreterIn(environment, isWindows);
    const places = [environment, path.dirname(interpreter), interpreter];
    if ((await isExecutable(interpreter)) && (await Promise.all(places.map(isOfUser))).every(Boolean)) {
      return interpreter;
    }
  }
  return undefined;
}
