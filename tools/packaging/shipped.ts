// What may and may not be in a package as its users get it.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { deadLinks } from "../tidy/links.ts";
import { machineTraces } from "../tidy/machine-traces.ts";

export interface ShippedPackage {
  readonly manifest: string;
  /** Path inside the package to content. */
  readonly files: ReadonlyMap<string, string>;
}

const REQUIRED = ["package.json", "README.md", "LICENSE", "CHANGELOG.md", "dist/index.js", "dist/index.d.ts"];
const NOT_SHIPPED = /\.(test|test-d|bench|fixture)\.|(^|\/)vitest\.|\.tsbuildinfo$|(^|\/)tsconfig/;

export function readShipped(folder: string): ShippedPackage {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll("\\", "/"),
    );
  return {
    manifest: readFileSync(join(folder, "package.json"), "utf8"),
    files: new Map(paths.map((path) => [path, readFileSync(join(folder, path), "utf8")])),
  };
}

export function shippedProblems({ manifest, files }: ShippedPackage): string[] {
  const { sideEffects, type } = JSON.parse(manifest) as { sideEffects?: unknown; type?: unknown };
  const paths = [...files.keys()];
  const traces = [...files].flatMap(([file, text]) => machineTraces({ file, text }));
  return [
    ...REQUIRED.filter((path) => !files.has(path)).map((path) => `${path} is missing`),
    ...paths.filter((path) => path.startsWith("src/")).map((path) => `${path}: sources are not shipped`),
    ...paths.filter((path) => NOT_SHIPPED.test(path)).map((path) => `${path} is not for users`),
    ...(manifest.includes('"@gossip/source"') ? ["the manifest leads to sources that are not there"] : []),
    ...(manifest.includes("workspace:") ? ["the manifest speaks of a workspace that is not there"] : []),
    ...(sideEffects === false ? [] : ["the manifest does not say that there are no side effects"]),
    ...(type === "module" ? [] : ["the manifest does not say that it is ESM"]),
    ...deadPages(files),
    ...traces.map(({ file, line, what }) => `${file}:${line} ${what}`),
  ];
}

/** Links of pages that lead out of the package, or nowhere. */
function deadPages(files: ReadonlyMap<string, string>): string[] {
  const pages = [...files].filter(([file]) => file.endsWith(".md") && file !== "CHANGELOG.md");
  return pages.flatMap(([file, text]) =>
    deadLinks(
      { file, text },
      (path) => files.has(path),
      (path) => files.get(path),
    ).map(({ line, what }) => `${file}:${line} ${what}`),
  );
}

/**
 * What came with a package and may not have. `layers` are the package and those below it. A listed npm package may bring
 * helpers of its own; if none is listed, nothing but the layers may be there.
 */
export function strangers(
  installed: readonly string[],
  { layers, npm }: { readonly layers: readonly string[]; readonly npm: readonly string[] },
): string[] {
  const isOurs = (name: string): boolean => layers.some((layer) => name === `@gossip/${layer}`);
  const isHelper = (name: string): boolean => npm.length > 0 && !name.startsWith("@gossip/");
  return installed.filter((name) => !isOurs(name) && !isHelper(name)).map((name) => `${name} was pulled in`);
}
