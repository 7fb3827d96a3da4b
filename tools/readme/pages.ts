// The pages whose examples are run, and where their imports lead.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { PACKAGES, ROOT, packageFolder, readManifest } from "../layers/layers.ts";
import { treeFiles } from "../tidy/tree.ts";
import { readBlocks, type Block } from "./blocks.ts";
import type { Place } from "./run-typescript.ts";

/** Every page but changelogs, which quote what was true once. */
const PAGE = /^(?!\.changeset\/).*(?<!\/CHANGELOG)\.md$/;

export function examplePages(): string[] {
  return treeFiles(ROOT).filter((file) => PAGE.test(file));
}

export function exampleBlocks(): Block[] {
  return examplePages().flatMap((file) => readBlocks(file, readFileSync(join(ROOT, file), "utf8")));
}

/**
 * A package's README imports the package by its own name, through its exports, as users will. Any other page has no
 * manifest of its own, so its imports of our packages are led to what they export.
 */
export function placeOf(block: Block): Place {
  const name = /^packages\/([^/]+)\//.exec(block.file)?.[1];
  if (name !== undefined) return { folder: packageFolder(name) };
  // The tools are TypeScript that nothing builds.
  if (block.file.startsWith("tools/"))
    return {
      folder: join(ROOT, "tools"),
      nodeArgs: ["--import", pathToFileURL(join(ROOT, "tools/ts/register.mjs")).href],
    };
  return { folder: ROOT, resolve: resolveFromRoot };
}

export function resolveFromRoot(specifier: string): string {
  const match = /^@gossip\/([^/]+)(\/.+)?$/.exec(specifier);
  if (match === null || !PACKAGES.includes(match[1]!)) return specifier;
  const target = readManifest(match[1]!).exports[`.${match[2] ?? ""}`] as { default?: string } | undefined;
  if (target?.default === undefined) return specifier;
  return pathToFileURL(join(packageFolder(match[1]!), target.default)).href;
}

/** The packages that are not built, of those that could be imported. */
export function unbuiltPackages(): string[] {
  return PACKAGES.filter((name) => !existsSync(join(packageFolder(name), "dist/index.js")));
}
