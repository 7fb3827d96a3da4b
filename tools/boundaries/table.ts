// The layer table, held against the folders that exist and against itself.
import type { Layer } from "../layers/layers.ts";
import type { Problem } from "./problem.ts";

const TABLE = "tools/layers/layers.json";

export function tableProblems(layers: Readonly<Record<string, Layer>>, folders: readonly string[]): Problem[] {
  const names = Object.keys(layers);
  const missing = folders
    .filter((folder) => !names.includes(folder))
    .map((folder) => ({
      rule: "package-is-in-the-layer-table",
      where: `packages/${folder}`,
      why: `${TABLE} does not list it`,
    }));
  const gone = names
    .filter((name) => !folders.includes(name))
    .map((name) => ({
      rule: "layer-has-a-package",
      where: TABLE,
      why: `lists ${name}, and packages/${name} does not exist`,
    }));
  return [
    ...missing,
    ...gone,
    ...names.flatMap((name, position) => orderProblems(name, names.slice(0, position), layers[name]!)),
  ];
}

/** A package stands on packages listed before it: that makes a cycle between layers impossible to write down. */
function orderProblems(name: string, before: readonly string[], { below }: Layer): Problem[] {
  return below
    .filter((layer) => !before.includes(layer))
    .map((layer) => ({
      rule: "layers-are-in-order",
      where: TABLE,
      why: `${name} stands on ${layer}, which is not listed before it`,
    }));
}
