// What a manifest declares, held against the layer table.
import type { Layer, Manifest } from "../layers/layers.ts";
import type { Problem } from "./problem.ts";

const SCOPE = "@gossip/";

/** The entries that a package may have, and the source file of each. */
const ENTRIES: Readonly<Record<string, string>> = {
  ".": "./src/index.ts",
  "./testing": "./src/testing/index.ts",
  "./internal": "./src/internal.ts",
  // For modules that the command loads.
  "./job": "./src/job/index.ts",
};

/** How a published package exports `./internal`: sibling packages can import it, and users get no types. */
const PUBLISHED_INTERNAL = JSON.stringify({ types: null, default: "./dist/internal.js" });

/** The part of a manifest that names other packages, and its own entries. */
export type Dependencies = Pick<
  Manifest,
  "name" | "exports" | "dependencies" | "devDependencies" | "peerDependencies"
> & {
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly publishConfig?: { readonly exports?: Manifest["exports"] };
};

/** `layer` is what the table says of the package in the folder `packages/NAME`. */
export function manifestProblems(name: string, manifest: Dependencies, layer: Layer): Problem[] {
  const where = `packages/${name}/package.json`;
  const problems: Problem[] = [];
  if (manifest.name !== SCOPE + name)
    problems.push({ rule: "manifest-name", where, why: `is called ${manifest.name}, not ${SCOPE}${name}` });
  problems.push(...entryProblems(manifest.exports, where), ...internalProblems(manifest, where));

  const shipped = { ...manifest.dependencies, ...manifest.peerDependencies, ...manifest.optionalDependencies };
  for (const [dependency, range] of Object.entries(shipped)) {
    if (!isAllowed(dependency, layer))
      problems.push({
        rule: "manifest-dependency",
        where,
        why: `depends on ${dependency}, which its layer does not allow`,
      });
    if (dependency.startsWith(SCOPE) && range !== "workspace:^") {
      problems.push({
        rule: "manifest-range",
        where,
        why: `asks for ${dependency} as ${range}: only workspace:^ follows that package's own version`,
      });
    }
  }
  for (const dependency of Object.keys(manifest.devDependencies ?? {})) {
    if (!dependency.startsWith(SCOPE) || dependency === "@gossip/tools" || isAllowed(dependency, layer)) continue;
    problems.push({
      rule: "manifest-dev-dependency",
      where,
      why: `tests with ${dependency}, which its layer does not allow`,
    });
  }
  return problems;
}

function isAllowed(dependency: string, { below, npm }: Layer): boolean {
  if (dependency.startsWith(SCOPE)) return below.includes(dependency.slice(SCOPE.length));
  return npm.includes(dependency);
}

function entryProblems(exports: Manifest["exports"], where: string): Problem[] {
  return Object.entries(exports)
    .filter(([entry]) => entry !== "./package.json")
    .filter(
      ([entry, target]) =>
        ENTRIES[entry] === undefined || ENTRIES[entry] !== (target as { "@gossip/source"?: string })["@gossip/source"],
    )
    .map(([entry]) => ({
      rule: "manifest-entry",
      where,
      why: `offers ${entry}: the entries are ${Object.entries(ENTRIES)
        .map(([name, source]) => `${name} from ${source}`)
        .join(", ")}`,
    }));
}

function internalProblems({ exports, publishConfig }: Dependencies, where: string): Problem[] {
  if (!("./internal" in exports)) return [];
  return JSON.stringify(publishConfig?.exports?.["./internal"]) === PUBLISHED_INTERNAL
    ? []
    : [{ rule: "manifest-internal", where, why: `must publish ./internal as ${PUBLISHED_INTERNAL}` }];
}
