// A loader hook that strips types and leaves checking them to `tsc -b`. Specifiers in our sources already name
// the `.ts` file, so resolution needs no help.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { stripTypes } from "./strip-types.mjs";

export async function load(url, context, nextLoad) {
  if (!url.startsWith("file:") || !url.endsWith(".ts")) return nextLoad(url, context);
  const fileName = fileURLToPath(url);
  const source = await stripTypes(fileName, await readFile(fileName, "utf8"));
  return { format: "module", source, shortCircuit: true };
}
