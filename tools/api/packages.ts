// The export lists of our packages: where they are kept and what they must say.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PACKAGES, ROOT, codeEntries, entrySource, packageFolder, readManifest } from "../layers/layers.ts";
import { listExports, type ApiExport } from "./api-list.ts";

export function apiFile(name: string): string {
  return join(packageFolder(name), "api.txt");
}

/**
 * What each package exports, in the repository or in a copy of it. One pass over all of them, because most of the time
 * goes into reading the same files.
 */
export function exportsByPackage(root: string = ROOT): Map<string, ApiExport[]> {
  const entries = PACKAGES.flatMap((name) => {
    const manifest = readManifest(name);
    return codeEntries(manifest).map((entry) => ({
      package: name,
      entry,
      file: join(root, "packages", name, entrySource(manifest, entry)),
    }));
  });
  const exports = listExports(entries);
  return new Map(PACKAGES.map((name) => [name, exports.filter((line) => line.package === name)]));
}

/** `undefined` if `committed` is what the sources say; otherwise what to do. */
export function apiProblem(name: string, committed: string | undefined, actual: string): string | undefined {
  if (committed === undefined) return `packages/${name}/api.txt is missing: run \`pnpm api\` and commit it`;
  if (committed === actual) return undefined;
  const before = new Set(committed.split("\n"));
  const after = new Set(actual.split("\n"));
  const gone = [...before].filter((line) => !after.has(line)).map((line) => `- ${line}`);
  const come = [...after].filter((line) => !before.has(line)).map((line) => `+ ${line}`);
  return [
    `packages/${name}/api.txt is not what the package exports: run \`pnpm api\` and look at the difference`,
    ...gone,
    ...come,
  ].join("\n");
}

export function readApiFile(name: string): string | undefined {
  return existsSync(apiFile(name)) ? readFileSync(apiFile(name), "utf8") : undefined;
}
