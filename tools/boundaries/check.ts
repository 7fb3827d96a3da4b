// All that `pnpm boundaries` looks at, for the repository or for a copy of it.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { derivedFiles } from "../layers/derived-files.ts";
import { manifestNpm, type Layer } from "../layers/layers.ts";
import { cruise, cruiseProblems, unreadProblems, type Cruise } from "./cruise.ts";
import { derivedProblems } from "./derived.ts";
import { manifestProblems, type Dependencies } from "./manifests.ts";
import type { Problem } from "./problem.ts";
import { tableProblems } from "./table.ts";

export interface Boundaries {
  readonly cruised: Cruise;
  readonly problems: readonly Problem[];
}

export function checkBoundaries(root: string): Boundaries {
  const layers = readJson(join(root, "tools/layers/layers.json")) as Record<string, Layer>;
  const cruised = cruise(root);
  const problems = [
    ...tableProblems(layers, foldersOf(join(root, "packages"))),
    ...Object.entries(layers).flatMap(([name, layer]) => checkManifest(root, name, layer)),
    ...derivedProblems(root, derivedFiles()),
    ...cruiseProblems(cruised, Object.keys(layers)),
    ...unreadProblems(cruised, sourcesOf(root)),
  ];
  return { cruised, problems };
}

/** Every source of every package, from the root. */
export function sourcesOf(root: string): string[] {
  return foldersOf(join(root, "packages"))
    .map((name) => `packages/${name}/src`)
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
        .filter((path) => path.endsWith(".ts"))
        .map((path) => `${folder}/${path.replaceAll("\\", "/")}`),
    );
}

function checkManifest(root: string, name: string, layer: Layer): Problem[] {
  const file = join(root, "packages", name, "package.json");
  if (!existsSync(file))
    return [{ rule: "package-has-a-manifest", where: `packages/${name}`, why: "has no package.json" }];
  return manifestProblems(name, readJson(file) as Dependencies, { ...layer, npm: manifestNpm(layer) });
}

function foldersOf(path: string): string[] {
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, "utf8"));
}
