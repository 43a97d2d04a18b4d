/** What keeps a session from starting, and what the user can do about it. */
export class Problem extends Error {
  constructor(
    message: string,
    /** A command of the editor that leads to the cure: its label, its name and its arguments. */
    readonly cure?: { readonly label: string; readonly command: string; readonly args: readonly unknown[] },
  ) {
    super(message);
  }
}

/** The problem of a setting that has to be changed. */
export function problemOfSetting(message: string, setting: string): Problem {
  return new Problem(message, { label: "Open setting", command: "workbench.action.openSettings", args: [setting] });
}
