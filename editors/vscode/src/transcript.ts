/** Where the messages of a session are written, if its configuration has `trace`. */

import * as path from "node:path";

/**
 * Return the file for a value of `trace`: true is a new file in the folder for logs, a text the path of one, relative to
 * the folder that is open; undefined if there is to be none.
 */
export function transcriptFile(
  trace: unknown,
  places: { readonly logs: string; readonly folder: string | undefined; readonly now: Date },
): string | undefined {
  if (typeof trace === "string" && trace !== "") {
    return path.resolve(places.folder ?? places.logs, trace);
  }
  const moment = places.now.toISOString().replace(/\W/g, "");
  return trace === true ? path.join(places.logs, `${moment}.jsonl`) : undefined;
}
