// Every way that we know to cross a boundary, each as a file to plant into a copy of the tree.
import { PACKAGES, LAYERS } from "../layers/layers.ts";

export interface Planting {
  /** What is wrong with it, for the test's name. */
  readonly name: string;
  /** Where it goes, from the root. This is the file that must be reported. */
  readonly file: string;
  readonly text: string;
  /** The rule that must report it; `undefined` if none may. */
  readonly rule: string | undefined;
  /** Other files that it needs. */
  readonly beside?: Readonly<Record<string, string>>;
}

const FRONTIER = "frontier-imports-only-layers-below-it";

/** The ways to name another package in a file; `to` is the specifier. */
export const IMPORT_FORMS: Readonly<Record<string, (to: string) => string>> = {
  "value import": (to) => `import { a } from "${to}"; export const b: unknown = a;`,
  "default import": (to) => `import a from "${to}"; export const b: unknown = a;`,
  "namespace import": (to) => `import * as a from "${to}"; export const b: unknown = a;`,
  "side effect": (to) => `import "${to}";`,
  "import type": (to) => `import type { A } from "${to}"; export type B = A;`,
  "inline type": (to) => `import { type A } from "${to}"; export type B = A;`,
  "import() type": (to) => `export type B = import("${to}").A;`,
  "typeof import()": (to) => `export type B = typeof import("${to}");`,
  "dynamic import": (to) => `export const load = (): Promise<unknown> => import("${to}");`,
  "dynamic import of a template": (to) => `export const load = (): Promise<unknown> => import(\`${to}\`);`,
  "named re-export": (to) => `export { a } from "${to}";`,
  "re-export as default": (to) => `export { a as default } from "${to}";`,
  "star re-export": (to) => `export * from "${to}";`,
  "namespace re-export": (to) => `export * as a from "${to}";`,
  "type re-export": (to) => `export type { A } from "${to}";`,
  "star type re-export": (to) => `export type * from "${to}";`,
  require: (to) => `declare const require: (name: string) => unknown; export const a: unknown = require("${to}");`,
  "import = require": (to) => `import a = require("${to}"); export { a };`,
  "triple-slash types": (to) => `/// <reference types="${to}" />\nexport const a: number = 1;`,
  "JSDoc @import": (to) => `/** @import { A } from "${to}" */\nexport const a: number = 1;`,
  "JSDoc import() type": (to) => `/** @type {import("${to}").A | null} */\nexport const a: unknown = null;`,
  "mock of a module": (to) => `declare const vi: { mock(name: string): void }; vi.mock("${to}");`,
};

/** Frontier reaching coordination: by its name, by paths into it, and from every kind of file. */
export const FRONTIER_TO_COORDINATION: readonly Planting[] = [
  ...Object.entries(IMPORT_FORMS).map(([form, write]) =>
    inFrontier(`${form} of the package`, write("@gossip/coordination"), FRONTIER),
  ),
  ...Object.entries(IMPORT_FORMS)
    .filter(([form]) => form !== "triple-slash types")
    .map(([form, write]) =>
      inFrontier(`${form} of a relative path`, write("../../coordination/src/index.ts"), FRONTIER),
    ),
  inFrontier("the testing entry", `import "@gossip/coordination/testing";`, FRONTIER),
  inFrontier("the internal entry", `import "@gossip/coordination/internal";`, FRONTIER),
  inFrontier("deep path into src", `import "@gossip/coordination/src/index.ts";`, FRONTIER),
  inFrontier("deep path into dist", `import "@gossip/coordination/dist/index.js";`, FRONTIER),
  inFrontier("relative path into dist", `import "../../coordination/dist/index.js";`, FRONTIER),
  inFrontier(
    "relative path through node_modules",
    `import "../node_modules/@gossip/coordination/src/index.ts";`,
    FRONTIER,
  ),
  inFrontier(
    "triple-slash path",
    `/// <reference path="../../coordination/src/index.ts" />\nexport const a: number = 1;`,
    FRONTIER,
  ),
  planting("a test", "packages/frontier/src/planted-in-a.test.ts", `import "@gossip/coordination";`, FRONTIER),
  planting("a bench", "packages/frontier/src/planted-in-a.bench.ts", `import "@gossip/coordination";`, FRONTIER),
  planting(
    "a type test",
    "packages/frontier/src/planted-in-a.test-d.ts",
    `import type { A } from "@gossip/coordination"; export type B = A;`,
    FRONTIER,
  ),
  planting("a fixture", "packages/frontier/src/planted-in-a.fixture.ts", `import "@gossip/coordination";`, FRONTIER),
  planting("a file outside src", "packages/frontier/scripts/planted.ts", `import "@gossip/coordination";`, FRONTIER),
  planting("an .mts file", "packages/frontier/src/planted.mts", `import "@gossip/coordination";`, FRONTIER),
  planting("a .js file", "packages/frontier/src/planted.js", `import "@gossip/coordination";`, FRONTIER),
];

/** A value import and an `import type` for every pair of packages that the table does not allow. */
export const FORBIDDEN_PAIRS: readonly Planting[] = PACKAGES.flatMap((from) =>
  PACKAGES.filter((to) => to !== from && !LAYERS[from]!.below.includes(to)).flatMap((to) =>
    (["value import", "import type"] as const).map((form) =>
      planting(
        `${form} from ${from} to ${to}`,
        `packages/${from}/src/planted-${slug(form)}-of-${to}.ts`,
        IMPORT_FORMS[form]!(`@gossip/${to}`),
        `${from}-imports-only-layers-below-it`,
      ),
    ),
  ),
);

/** An example that uses what its readers cannot. */
export const INTERNAL_IN_EXAMPLES: readonly Planting[] = [
  ...Object.entries(IMPORT_FORMS).map(([form, write]) =>
    inExample(`${form} of an internal entry`, write("@gossip/contracts/internal")),
  ),
  inExample("deep path to an internal entry", `import "@gossip/contracts/src/internal.ts";`),
  inExample("relative path to an internal entry", `import "../../packages/contracts/src/internal.ts";`),
];

/** What else may not be imported, whatever the layer. */
export const OTHER_VIOLATIONS: readonly Planting[] = [
  inFrontier("deep path into the src of a layer below", `import "@gossip/stdx/src/result.ts";`, "no-deep-import"),
  inFrontier("deep path into the dist of a layer below", `import "@gossip/stdx/dist/result.js";`, "no-deep-import"),
  inFrontier("deep relative path into a layer below", `import "../../stdx/src/result.ts";`, "no-deep-import"),
  inFrontier(
    "relative path to the entry of a layer below",
    `import "../../stdx/src/index.ts";`,
    "no-relative-cross-package",
  ),
  inFrontier(
    "relative type import of a layer below",
    `import type { Ok } from "../../stdx/src/index.ts"; export type A = Ok<1>;`,
    "no-relative-cross-package",
  ),
  inFrontier("relative path to a file of the root", `import "../../../vitest.shared.ts";`, "no-relative-cross-package"),
  inFrontier("relative path into tools", `import "../../../tools/layers/layers.ts";`, "no-relative-cross-package"),
  inFrontier("tools in shipped source", `import "@gossip/tools/bench";`, "no-tools-in-shipped-source"),
  inFrontier("an unknown package", `import "@gossip/newcomer";`, FRONTIER),
  inFrontier("a file that does not exist", `import "./planted-nowhere.ts";`, "no-unresolvable"),
  inFrontier(
    "undeclared npm package",
    `import fc from "fast-check"; export const a: unknown = fc;`,
    "no-undeclared-dependency",
  ),
  inFrontier(
    "type of an undeclared npm package",
    `import type fc from "fast-check"; export type A = typeof fc;`,
    "no-undeclared-dependency",
  ),
  inFrontier("npm package that is not installed", `import "left-pad";`, "no-undeclared-dependency"),
  planting(
    "development dependency",
    "packages/scope/src/planted-dev.ts",
    `import fc from "fast-check"; export const a: unknown = fc;`,
    "no-dev-dependency-in-shipped-source",
  ),
  planting(
    "type of a development dependency",
    "packages/scope/src/planted-dev-type.ts",
    `import type fc from "fast-check"; export type A = typeof fc;`,
    "no-dev-dependency-in-shipped-source",
  ),
  ...["test", "bench", "fixture", "test-d"].map((kind) => ({
    ...inFrontier(
      `a ${kind} file from shipped source`,
      `import "./planted-imported.${kind}.ts";`,
      "no-test-in-shipped-source",
    ),
    beside: { [`packages/frontier/src/planted-imported.${kind}.ts`]: "export {};" },
  })),
  {
    ...inFrontier(
      "circle",
      `import { b } from "./planted-circle-b.ts"; export const a = (): unknown => b;`,
      "no-circular",
    ),
    beside: {
      "packages/frontier/src/planted-circle-b.ts": `import { a } from "./planted-circle.ts"; export const b = (): unknown => a;`,
    },
  },
  {
    ...inFrontier(
      "circle of types",
      `import type { B } from "./planted-circle-of-types-b.ts"; export type A = B | 1;`,
      "no-circular",
    ),
    beside: {
      "packages/frontier/src/planted-circle-of-types-b.ts": `import type { A } from "./planted-circle-of-types.ts"; export type B = A | 2;`,
    },
  },
  planting(
    "package missing from the table",
    "packages/newcomer/src/index.ts",
    `export { a } from "./a.ts";`,
    "package-is-in-the-layer-table",
  ),
];

/** What must stay allowed: a gate that refuses everything would pass all of the above. */
export const ALLOWED: readonly Planting[] = [
  ...Object.entries(IMPORT_FORMS).map(([form, write]) =>
    inFrontier(`${form} of a layer below`, write("@gossip/stdx"), undefined),
  ),
  inFrontier("internal entry of a layer below", `import "@gossip/stdx/internal";`, undefined),
  inFrontier("sibling file", `import "./index.ts";`, undefined),
  inFrontier("builtin of Node", `import "node:util";`, undefined),
  planting(
    "root development dependency in a test",
    "packages/frontier/src/planted-allowed.test.ts",
    `import fc from "fast-check"; import { test } from "vitest"; export const a: unknown = [fc, test];`,
    undefined,
  ),
  planting(
    "own package by name in a test",
    "packages/frontier/src/planted-self.test.ts",
    `import "@gossip/frontier";`,
    undefined,
  ),
  planting(
    "fixture in a test",
    "packages/frontier/src/planted-with-fixture.test.ts",
    `import "./planted-imported.fixture.ts";`,
    undefined,
  ),
  planting(
    "tools in a bench",
    "packages/frontier/src/planted-allowed.bench.ts",
    `import "@gossip/tools/bench";`,
    undefined,
  ),
];

/**
 * What dependency-cruiser cannot see, because the specifier is computed or loads nothing.
 *
 * `lint` names the oxlint rule that refuses it. The forms without one are harmless: `import.meta.resolve`
 * and `new URL` give a path and load nothing (loading it takes one of the refused forms), and a
 * `declare module` block adds types to a module without importing it.
 */
export const UNSEEN: readonly (Planting & { readonly lint: string | undefined })[] = [
  {
    ...unseen(
      "import of a template with a hole",
      "const name = 'coordination'; export const load = (): Promise<unknown> => import(`@gossip/${name}`);",
    ),
    lint: "no-dynamic-require",
  },
  {
    ...unseen("import of a sum", `export const load = (): Promise<unknown> => import("@gossip/" + "coordination");`),
    lint: "no-dynamic-require",
  },
  {
    ...unseen(
      "createRequire",
      `import { createRequire } from "node:module"; const load = createRequire(import.meta.url); export const a: unknown = load("@gossip/coordination");`,
    ),
    lint: "no-restricted-imports",
  },
  {
    ...unseen("import.meta.resolve", `export const a: string = import.meta.resolve("@gossip/coordination");`),
    lint: undefined,
  },
  {
    ...unseen("new URL", `export const a: URL = new URL("../../coordination/src/index.ts", import.meta.url);`),
    lint: undefined,
  },
  {
    ...unseen(
      "declare module",
      `import "@gossip/stdx"; declare module "@gossip/coordination" { interface Planted { a: 1 } }`,
    ),
    lint: undefined,
  },
];

function inFrontier(name: string, text: string, rule: string | undefined): Planting {
  return planting(name, `packages/frontier/src/planted-${slug(name)}.ts`, text, rule);
}

function inExample(name: string, text: string): Planting {
  return planting(name, `examples/hash-tree/planted-${slug(name)}.ts`, text, "no-internal-outside-packages");
}

function unseen(name: string, text: string): Planting {
  return planting(name, `packages/frontier/src/planted-unseen-${slug(name)}.ts`, text, undefined);
}

function planting(name: string, file: string, text: string, rule: string | undefined): Planting {
  return { name, file, text: `${text}\n`, rule };
}

function slug(name: string): string {
  return name.replaceAll("()", "-call").replaceAll(/\W+/g, "-").toLowerCase();
}
