// Which packages changed since their release without a changeset that says so.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { LAYERS, PACKAGES, packageFolder, ROOT } from "../layers/layers.ts";
import { shippedHash } from "./shipped-hash.ts";

/** Package name to the hash of what it shipped. `npm run version` rewrites the file; a release commits it. */
export const RELEASED_FILE = join(import.meta.dirname, "released.json");

export function readReleased(): Record<string, string> {
  return JSON.parse(readFileSync(RELEASED_FILE, "utf8")) as Record<string, string>;
}

export function currentHashes(): Record<string, string> {
  return withBundles(Object.fromEntries(PACKAGES.map((name) => [name, shippedHash(packageFolder(name))])));
}

/** A package that ships those below it in a bundle changes with each of them: its users get a fix with its next release. */
export function withBundles(own: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(own).map(([name, hash]) => {
      const { bundles = false, below } = LAYERS[name]!;
      const all = [hash, ...below.map((layer) => own[layer])].join();
      return [name, bundles ? createHash("sha256").update(all).digest("hex") : hash];
    }),
  );
}

/** The packages that the pending changesets name, without `@gossip/`. */
export function announced(texts: readonly string[]): Set<string> {
  return new Set(
    texts.flatMap((text) => [...frontMatter(text).matchAll(/^"@gossip\/([^"]+)"\s*:/gm)].map(([, name]) => name!)),
  );
}

export function readChangesets(): string[] {
  const folder = join(ROOT, ".changeset");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".md") && name !== "README.md")
    .map((name) => readFileSync(join(folder, name), "utf8"));
}

export function unannounced(
  current: Readonly<Record<string, string>>,
  released: Readonly<Record<string, string>>,
  names: ReadonlySet<string>,
): string[] {
  return Object.keys(current).filter((name) => current[name] !== released[name] && !names.has(name));
}

function frontMatter(text: string): string {
  return /^---\n([\s\S]*?)\n---/.exec(text)?.[1] ?? "";
}
