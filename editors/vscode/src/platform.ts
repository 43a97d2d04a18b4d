/** Where the systems differ: places and names of programs, and features that need Linux. */

import * as path from "node:path";

export const IS_WINDOWS = process.platform === "win32";

/** Return the interpreter of a virtual environment. */
export function interpreterIn(environment: string, isWindows = IS_WINDOWS): string {
  return isWindows ? path.join(environment, "Scripts", "python.exe") : path.join(environment, "bin", "python");
}

/** Names of interpreters on the PATH, the best one first: `python3` may be a link to a shop on Windows. */
export function interpreterNames(isWindows = IS_WINDOWS): readonly string[] {
  return isWindows ? ["python", "python3"] : ["python3", "python"];
}

/** Return the name of the file of a program that was named without its ending. */
export function programFile(name: string, isWindows = IS_WINDOWS): string {
  return isWindows && path.extname(name) === "" ? `${name}.exe` : name;
}

/** Whether a text is a path, and not the name of a program on the PATH. */
export function isPath(text: string, isWindows = IS_WINDOWS): boolean {
  return (isWindows ? /[\\/:]/ : /\//).test(text);
}

/** Return why a feature is not there, undefined where it is. */
export function needsLinux(feature: string, platform: NodeJS.Platform = process.platform): string | undefined {
  return platform === "linux" ? undefined : `${feature} needs Linux.`;
}
