// A boundary that is not really checked is worse than none: the first import from frontier into coordination
// would go unseen for months. So every way across is planted into a copy of the tree, and each planted file must be
// reported by the rule that is meant for it; and what is allowed must stay allowed.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LAYERS, PACKAGES } from "../layers/layers.ts";
import { copyTree } from "../packaging/copy-tree.ts";
import { checkBoundaries, sourcesOf, type Boundaries } from "./check.ts";
import { unreadProblems } from "./cruise.ts";
import {
  ALLOWED,
  FORBIDDEN_PAIRS,
  FRONTIER_TO_COORDINATION,
  INTERNAL_IN_EXAMPLES,
  OTHER_VIOLATIONS,
  UNSEEN,
  type Planting,
} from "./plantings.fixture.ts";

const PLANTINGS = [
  ...FRONTIER_TO_COORDINATION,
  ...FORBIDDEN_PAIRS,
  ...INTERNAL_IN_EXAMPLES,
  ...OTHER_VIOLATIONS,
  ...ALLOWED,
  ...UNSEEN,
];

/** A copy of the tree whose sources import nothing: `pnpm boundaries` cruises the real ones, here only plantings count. */
function copyOfEmptySources(): string {
  const copy = copyTree();
  for (const file of sourcesOf(copy)) writeFileSync(join(copy, file), "export {};\n");
  return copy;
}

test("a source that was not read is a problem", () => {
  expect(unreadProblems({ modules: ["packages/a/src/b.ts"] }, ["packages/a/src/b.ts", "packages/a/src/c.ts"])).toEqual([
    { rule: "source-not-cruised", where: "packages/a/src/c.ts", why: "dependency-cruiser did not read it" },
  ]);
});

describe("what is no import", () => {
  let copy: string;
  beforeAll(() => void (copy = copyOfEmptySources()));
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  test("each fails under its own name", () => {
    writeFileSync(join(copy, "packages/tso/tsconfig.build.json"), "{}\n");
    rmSync(join(copy, "packages/scope/tsconfig.json"));
    editManifest(copy, "frontier", (manifest) => ({
      ...manifest,
      dependencies: { "@gossip/coordination": "workspace:^", "left-pad": "1.3.0", "@gossip/stdx": "^0.1.0" },
    }));
    editManifest(copy, "tso", (manifest) => ({
      ...manifest,
      devDependencies: { "@gossip/frontier": "workspace:^" },
      peerDependencies: { vitest: "4" },
    }));
    editManifest(copy, "scope", (manifest) => ({
      ...manifest,
      name: "@gossip/scopes",
      exports: {
        ".": { "@gossip/source": "./src/scope.ts" },
        "./private": { "@gossip/source": "./src/private.ts" },
        "./package.json": "./package.json",
      },
    }));
    editManifest(copy, "contracts", (manifest) => ({
      ...manifest,
      publishConfig: { exports: { "./internal": { types: "./dist/internal.d.ts", default: "./dist/internal.js" } } },
    }));
    rmSync(join(copy, "packages/stdx/src"), { recursive: true });
    mkdirSync(join(copy, "packages/stranger"));
    const layers = { ...LAYERS, ghost: { below: ["later"], npm: [], core: false, is: "nothing" } };
    writeFileSync(join(copy, "tools/layers/layers.json"), JSON.stringify(layers));

    const found = checkBoundaries(copy).problems.map(({ rule, where, why }) => `${rule} ${where} ${why}`);

    for (const expected of [
      /^derived-file packages\/tso\/tsconfig.build.json /,
      /^derived-file packages\/scope\/tsconfig.json /,
      /^manifest-dependency packages\/frontier\/package.json depends on @gossip\/coordination/,
      /^manifest-dependency packages\/frontier\/package.json depends on left-pad/,
      /^manifest-range packages\/frontier\/package.json asks for @gossip\/stdx as \^0.1.0/,
      /^manifest-dev-dependency packages\/tso\/package.json tests with @gossip\/frontier/,
      /^manifest-dependency packages\/tso\/package.json depends on vitest/,
      /^manifest-name packages\/scope\/package.json is called @gossip\/scopes/,
      /^manifest-entry packages\/scope\/package.json offers \.:/,
      /^manifest-entry packages\/scope\/package.json offers \.\/private:/,
      /^manifest-internal packages\/contracts\/package.json must publish \.\/internal as /,
      /^no-modules-cruised packages\/stdx /,
      /^package-is-in-the-layer-table packages\/stranger /,
      /^layer-has-a-package .* lists ghost/,
      /^package-has-a-manifest packages\/ghost /,
      /^layers-are-in-order .* ghost stands on later/,
    ]) {
      expect(found).toContainEqual(expect.stringMatching(expected));
    }
  });

  test("a tree without any source fails, for every package", () => {
    for (const name of PACKAGES)
      for (const path of ["src", "bin", "vite.config.ts", "vitest.config.ts"])
        rmSync(join(copy, "packages", name, path), { recursive: true, force: true });
    rmSync(join(copy, "examples"), { recursive: true });
    mkdirSync(join(copy, "examples"));

    const { cruised, problems } = checkBoundaries(copy);

    expect(cruised.modules).toEqual([]);
    const rules = problems.map(({ rule, where }) => `${rule} ${where}`);
    expect(rules).toEqual(
      expect.arrayContaining([
        "no-imports-cruised packages",
        ...PACKAGES.map((name) => `no-modules-cruised packages/${name}`),
      ]),
    );
  });
});

// Undeclared, an import stays a bare specifier that resolves to nothing; declared and linked, it resolves to a file of
// the other package. The rules must hold in both: a real violation also declares the dependency.
describe.each([{ linked: false }, { linked: true }])(
  "planted violations, dependencies linked: $linked",
  ({ linked }) => {
    let copy: string;
    let found: Boundaries;

    beforeAll(() => {
      copy = copyOfEmptySources();
      for (const name of PACKAGES) fakeDist(copy, name);
      editManifest(copy, "scope", (manifest) => ({
        ...manifest,
        devDependencies: { ...(manifest["devDependencies"] as object), "fast-check": "*" },
      }));
      plantFile(copy, "packages/newcomer/src/a.ts", "export const a = 1;\n");
      if (linked) linkEverything(copy);
      for (const { file, text, beside } of PLANTINGS) {
        plantFile(copy, file, text);
        for (const [path, other] of Object.entries(beside ?? {})) plantFile(copy, path, other);
      }
      found = checkBoundaries(copy);
    });
    afterAll(() => rmSync(copy, { recursive: true, force: true }));

    test("the plantings are different files", () => {
      expect(new Set(PLANTINGS.map((planted) => planted.file)).size).toBe(PLANTINGS.length);
    });

    test("there is something to plant for every pair that the table does not allow", () => {
      const forbidden = [
        "frontier to coordination",
        "coordination to frontier",
        "stdx to contracts",
        "scope to contracts",
        "tso to coordination",
      ];
      for (const pair of forbidden)
        expect(FORBIDDEN_PAIRS.map((planted) => planted.name)).toContain(`value import from ${pair}`);
    });

    test("frontier cannot reach coordination, in any form", () => {
      expect(unreported(FRONTIER_TO_COORDINATION)).toEqual([]);
    });

    test("no package reaches one that the table does not put below it", () => {
      expect(unreported(FORBIDDEN_PAIRS)).toEqual([]);
    });

    test("deep and relative paths, tools, undeclared packages, tests, circles and strangers are refused", () => {
      expect(unreported(OTHER_VIOLATIONS)).toEqual([]);
    });

    test("an example cannot reach the internal entry of a package, in any form", () => {
      expect(unreported(INTERNAL_IN_EXAMPLES)).toEqual([]);
    });

    test("what is allowed is read, and not reported", () => {
      expect(ALLOWED.filter((planted) => rulesThatReport(planted).length > 0)).toEqual([]);
      expect(found.cruised.modules).toEqual(expect.arrayContaining(ALLOWED.map((planted) => planted.file)));
    });

    // Pinned, so that we notice when dependency-cruiser learns to see one. The linter's part is in unseen.test.ts.
    test("what dependency-cruiser does not see is what we know of", () => {
      expect(UNSEEN.filter((planted) => rulesThatReport(planted).length > 0)).toEqual([]);
      expect(found.cruised.modules).toEqual(expect.arrayContaining(UNSEEN.map((planted) => planted.file)));
    });

    test("nothing else is reported", () => {
      const planted = new Set(PLANTINGS.flatMap(filesOf));
      expect(found.cruised.violations.filter((violation) => !planted.has(violation.from))).toEqual([]);
      expect(found.problems.filter(({ rule }) => rule === "source-not-cruised")).toEqual([]);
    });

    /** The plantings that the rule meant for them does not report, with what was reported instead. */
    function unreported(plantings: readonly Planting[]): object[] {
      return plantings
        .map((planted) => ({ ...planted, reportedBy: rulesThatReport(planted) }))
        .filter(({ rule, reportedBy }) => rule === undefined || !reportedBy.includes(rule));
    }

    // A circle is reported once, at any of its files.
    function rulesThatReport(planted: Planting): string[] {
      return found.cruised.violations
        .filter((violation) => filesOf(planted).includes(violation.from))
        .map((violation) => violation.rule);
    }
  },
);

function filesOf({ file, beside }: Planting): string[] {
  return [file, ...Object.keys(beside ?? {})];
}

function plantFile(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** The copy has no build; a path into `dist` must resolve all the same. */
function fakeDist(root: string, name: string): void {
  plantFile(root, `packages/${name}/dist/index.js`, "export {};\n");
  plantFile(root, `packages/${name}/dist/index.d.ts`, "export {};\n");
  const bin = join(root, "packages", name, "bin");
  for (const command of existsSync(bin) ? readdirSync(bin) : [])
    plantFile(root, `packages/${name}/dist/bin/${command}`, "export {};\n");
}

function linkEverything(root: string): void {
  for (const from of PACKAGES) {
    const others = PACKAGES.filter((name) => name !== from);
    const links = Object.fromEntries(others.map((name) => [`@gossip/${name}`, "workspace:^"]));
    editManifest(root, from, (manifest) => ({
      ...manifest,
      dependencies: { ...(manifest["dependencies"] as object), ...links },
    }));
    const scope = join(root, "packages", from, "node_modules/@gossip");
    mkdirSync(scope, { recursive: true });
    for (const name of others) {
      rmSync(join(scope, name), { force: true });
      symlinkSync(join("../../..", name), join(scope, name), "dir");
    }
  }
}

function editManifest(
  root: string,
  name: string,
  edit: (manifest: Record<string, unknown>) => Record<string, unknown>,
): void {
  const file = join(root, "packages", name, "package.json");
  writeFileSync(file, JSON.stringify(edit(JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>)));
}
