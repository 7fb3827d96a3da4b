// Files that repeat the version of their package. `changeset version` changes manifests only.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packageFolder, readManifest } from "../layers/layers.ts";

interface Stamped {
  readonly package: string;
  readonly file: string;
  /** Where the version is in the file. */
  readonly version: RegExp;
}

const CONSTANT = /(?<=^export const VERSION = ")[^"]+/m;

export const STAMPED: readonly Stamped[] = [
  { package: "cli", file: "src/version.ts", version: CONSTANT },
  { package: "cli", file: "man/gossip.1", version: /(?<=^\.TH GOSSIP 1 "" "gossip )[^"]+/m },
  { package: "coordination-postgres", file: "src/open/version.ts", version: CONSTANT },
];

/** Writes the versions of the manifests. Throws if a file has no version, because a release would then name an old one. */
export function stampVersions(): void {
  for (const { package: name, file, version } of STAMPED) {
    const path = join(packageFolder(name), file);
    const text = readFileSync(path, "utf8");
    if (!version.test(text)) throw new Error(`packages/${name}/${file} has no version`);
    writeFileSync(path, text.replace(version, readManifest(name).version));
  }
}
