// The repository, looked at as a whole.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { LAYERS, PACKAGES, readManifest } from "../layers/layers.ts";
import { commandMessages, unlistedMessages } from "./command-messages.ts";
import { decisionFindings, missingFiles, packageDocumentFindings } from "./documents.ts";
import type { Finding } from "./finding.ts";
import { impureUses } from "./impure.ts";
import { unknownTests } from "./invariants.ts";
import { deadLinks } from "./links.ts";
import { machineTraces } from "./machine-traces.ts";
import { oddWords } from "./plain-english.ts";
import { longFiles, longFunctions } from "./sizes.ts";
import { starExports } from "./star-exports.ts";
import { unseededDraws } from "./unseeded-draws.ts";
import { testCalls, type TestCall } from "./test-calls.ts";
import { readText, treeFiles, type SourceText } from "./tree.ts";

/** Tests, fixtures, and the tools that tests run on. */
const DRAWS_AGAIN = /\.(test|fixture)\.ts$|^tools\/(fault-run|store-proof)\//;
/** Changelogs quote what was true once. */
const PAGE = /^(?!\.changeset\/).*(?<!\/CHANGELOG)\.md$/;
const NOT_SHIPPED = /\.(test|test-d|bench|fixture)\.ts$/;

/** Files that quote odd words: the rule itself and its tests, and changelogs of earlier releases. */
const QUOTES_ODD_WORDS = /^tools\/tidy\/(plain-english|tidy\.test)\.ts$|(^|\/)CHANGELOG\.md$/;

/** The tree in the parts that the checks ask for. */
export interface Tree {
  readonly all: readonly SourceText[];
  /** All TypeScript of packages and tools. */
  readonly sources: readonly SourceText[];
  readonly shippedCore: readonly SourceText[];
  readonly tests: readonly TestCall[];
}

export function readTree(root: string): Tree {
  const all = treeFiles(root).map((file) => readText(root, file));
  const sources = all.filter(({ file }) => /^(packages|tools|examples)\/.*\.ts$/.test(file));
  const isCore = (file: string): boolean =>
    PACKAGES.some((name) => LAYERS[name]!.core && file.startsWith(`packages/${name}/src/`));
  return {
    all,
    sources,
    shippedCore: sources.filter(({ file }) => isCore(file) && !NOT_SHIPPED.test(file)),
    // A kit's tests are in no test file of its own package, but in the folder that it ships them from.
    tests: sources.filter(({ file }) => file.endsWith(".test.ts") || file.includes("/src/testing/")).flatMap(testCalls),
  };
}

/** What must hold, each under its name, and how to find what breaks it. */
export const TIDY_RULES: Readonly<Record<string, (root: string, tree: Tree) => readonly Finding[]>> = {
  "core packages touch no clock, chance, console or device": (_root, tree) => tree.shippedCore.flatMap(impureUses),
  "exports are named one by one": (_root, tree) => tree.sources.flatMap(starExports),
  "tests draw nothing that they cannot draw again": (_root, tree) =>
    tree.sources.filter(({ file }) => DRAWS_AGAIN.test(file)).flatMap(unseededDraws),
  "no test is run alone": (_root, tree) =>
    tree.tests
      .filter((call) => call.isOnly)
      .map(({ file, line }) => ({ file, line, what: "only: the other tests do not run" })),
  "every package has a README and a CHANGELOG": (root) =>
    PACKAGES.flatMap((name) => packageDocumentFindings(readDocuments(root, name))),
  "every decision has a status": (_root, tree) =>
    tree.all.filter(({ file }) => isDecision(file)).flatMap(decisionFindings),
  "every file named in docs/architecture.md exists": (root) =>
    missingFiles(readText(root, "docs/architecture.md"), (path) => existsSync(join(root, path))),
  "every test named in docs/invariants.md exists": (root, tree) =>
    unknownTests(readText(root, "docs/invariants.md"), tree.tests),
  "every error message of the command is in docs/guide/troubleshooting.md": (root, tree) =>
    unlistedMessages(commandMessages(tree.sources), readText(root, "docs/guide/troubleshooting.md")),
  "every link between pages leads somewhere": (root, tree) =>
    tree.all
      .filter(({ file }) => PAGE.test(file))
      .flatMap((page) =>
        deadLinks(
          page,
          (path) => existsSync(join(root, path)),
          (path) => (path.endsWith(".md") ? readIfThere(join(root, path)) : undefined),
        ),
      ),
  "prose is plain English with American spelling": (_root, tree) =>
    tree.all.filter(({ file }) => !QUOTES_ODD_WORDS.test(file)).flatMap(oddWords),
  "no file names a machine": (_root, tree) => tree.all.flatMap((source) => machineTraces(source)),
};

/** What is worth a look and never fails. */
export function sizeReports(tree: Tree): Finding[] {
  const written = tree.sources.filter(({ file }) => !/\.(test|bench)\.ts$/.test(file));
  return [...tree.sources.flatMap(longFiles), ...written.flatMap(longFunctions)];
}

function isDecision(file: string): boolean {
  return /^docs\/decisions\/(?!README\.md$)[^/]+\.md$/.test(file);
}

function readDocuments(root: string, name: string): Parameters<typeof packageDocumentFindings>[0] {
  const folder = `packages/${name}`;
  return {
    folder,
    version: readManifest(name).version,
    readme: readIfThere(join(root, folder, "README.md")),
    changelog: readIfThere(join(root, folder, "CHANGELOG.md")),
  };
}

function readIfThere(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}
