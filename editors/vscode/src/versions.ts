/** Which versions of Python and of dapkit serve, and what is said of those that do not. */

export const OLDEST_PYTHON = [3, 12] as const;

/** The line of Python that an interpreter reports itself by. */
export const PYTHON_PROBE = "import sys; print(sys.implementation.name, *sys.version_info[:3])";

/** Say why an interpreter cannot run the adapter, from what it answered to the probe; undefined if it can. */
export function objectionToPython(interpreter: string, answer: string): string | undefined {
  const [implementation, ...numbers] = answer.trim().split(" ");
  if (implementation === undefined || numbers.length !== 3) {
    return `${interpreter} did not answer as a Python interpreter. dapkit needs CPython ${OLDEST_PYTHON.join(".")} or later.`;
  }
  if (implementation === "cpython" && compare(numbers.map(Number), OLDEST_PYTHON) >= 0) {
    return undefined;
  }
  const kind = implementation === "cpython" ? "Python" : implementation;
  return `${interpreter} is ${kind} ${numbers.join(".")}. dapkit needs CPython ${OLDEST_PYTHON.join(".")} or later.`;
}

/** Say why a command is not an adapter for this extension, from what it answered to `--version`; undefined if it is. */
export function objectionToAdapter(command: readonly string[], answer: string, oldest: string): string | undefined {
  const name = command.join(" ");
  const version = /^dapkit (\d+(?:\.\d+)*)/m.exec(answer)?.[1];
  if (version === undefined) {
    return `"${name} --version" did not answer with a version of dapkit.`;
  }
  if (compare(numbersOf(version), numbersOf(oldest)) >= 0) {
    return undefined;
  }
  return `"${name}" is dapkit ${version}. This extension needs dapkit ${oldest} or later.`;
}

function numbersOf(version: string): number[] {
  return version.split(".").map(Number);
}

/** Compare versions: below 0 if the first is the older one. */
function compare(left: readonly number[], right: readonly number[]): number {
  for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) {
      return difference;
    }
  }
  return 0;
}
