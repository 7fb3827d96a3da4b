import { readManifest } from "../layers/layers.ts";

/** The packages of ours that a package needs, directly or not, the lowest first; names without `@gossip/`. */
export function neededLayers(name: string): string[] {
  const found = new Set<string>();
  for (const dependency of Object.keys(readManifest(name).dependencies ?? {})) {
    if (!dependency.startsWith("@gossip/")) continue;
    const below = dependency.slice("@gossip/".length);
    for (const layer of [...neededLayers(below), below]) found.add(layer);
  }
  return [...found];
}
