// The rules of the repository that no compiler knows. Each is shown to find what it is for, and then held against the tree;
// a rule that cannot fail would be a comfort and no more.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PACKAGES, ROOT, readManifest } from "../layers/layers.ts";
import { TIDY_RULES, readTree, sizeReports, type Tree } from "./check.ts";
import { decisionFindings, packageDocumentFindings } from "./documents.ts";
import { formatFinding } from "./finding.ts";
import { impureUses } from "./impure.ts";
import { unknownTests } from "./invariants.ts";
import { machineTraces } from "./machine-traces.ts";
import { longFiles, longFunctions } from "./sizes.ts";
import { starExports } from "./star-exports.ts";
import { testCalls } from "./test-calls.ts";
import type { SourceText } from "./tree.ts";

const MINUTE = 60_000;
const INSTALLED = "# x\n\n```sh\nnpm install x\n```\n\n";

describe("the repository", () => {
  let tree: Tree;
  beforeAll(() => void (tree = readTree(ROOT)), MINUTE);

  // Reports to look at: a long file or function may be right, so they are printed and fail nothing.
  afterAll(() => {
    const reports = sizeReports(tree);
    if (reports.length > 0)
      console.log(
        ["Long files and functions, to look at:", ...reports.map((report) => `  ${formatFinding(report)}`)].join("\n"),
      );
  });

  test("was read: packages, their tests, the documents", () => {
    const files = tree.all.map(({ file }) => file);
    expect(files).toEqual(
      expect.arrayContaining([
        "package.json",
        "docs/invariants.md",
        ".dependency-cruiser.cjs",
        "packages/stdx/src/result.ts",
      ]),
    );
    expect(tree.shippedCore.map(({ file }) => file)).toContain("packages/stdx/src/result.ts");
    expect(tree.tests.length).toBeGreaterThan(0);
  });

  test.each(Object.keys(TIDY_RULES).map((rule) => [rule]))("%s", { timeout: MINUTE }, (rule) => {
    expect(TIDY_RULES[rule]!(ROOT, tree).map(formatFinding)).toEqual([]);
  });
});

describe("a planted tree", () => {
  let root: string;
  beforeAll(() => void (root = mkdtempSync(join(tmpdir(), "gossip-tidy-"))));
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  test("every rule finds what was planted for it, and only there", { timeout: MINUTE }, () => {
    for (const name of PACKAGES) {
      plant(`packages/${name}/README.md`, `${INSTALLED}## What it does not do\n\nMuch.\n`);
      plant(`packages/${name}/CHANGELOG.md`, `# x\n\n## ${readManifest(name).version}\n\nFirst.\n`);
    }
    plant("packages/scope/README.md", INSTALLED);
    plant("packages/stdx/README.md", "# x\n\n## What it does not do\n\nMuch.\n");
    plant(
      "packages/stdx/src/clock.ts",
      "// Date.now() in a comment is fine.\nexport const now = (): number => Date.now();\n",
    );
    plant(
      "packages/stdx/src/clock.test.ts",
      'export const now = Date.now() + Math.random();\ntest.only("alone", () => {});\ntest("held", () => {});\n',
    );
    plant("packages/tso-server/src/clock.ts", "export const now = (): number => Date.now();\n");
    plant("packages/tso-server/src/index.ts", 'export * from "./clock.ts";\n');
    plant("packages/stdx/node_modules/other/src/index.ts", 'export * from "./clock.ts";\n');
    plant("docs/decisions/0001-a.md", "# A\n\nStatus: accepted\n");
    plant("docs/decisions/0002-b.md", "# B\n");
    plant("docs/decisions/README.md", "# Decisions\n");
    plant(
      "docs/invariants.md",
      "| # | rule | tests |\n| --- | --- | --- |\n| 1 | a | `held` |\n| 2 | b | `not held` |\n",
    );
    plant(
      "packages/scope/src/odd.ts",
      "// Whoever sees `somebody` here is right.\n// Behavior is plain.\n// Behaviour is not.\n",
    );
    plant(
      "docs/odd.md",
      "`somebody` is the name of a test.\nA write of unknown fate.\nThe caller is told `undefined` where it waits.\n",
    );
    plant("docs/architecture.md", "`kernel/gone.ts`, then `tools/there.ts` and `kernel/there.ts`.\n");
    plant("tools/there.ts", "");
    plant("packages/coordination/src/kernel/there.ts", "");
    plant("packages/cli/src/errors.ts", 'fail("StoreFull", "it is full.");\nfail("RunEnded", "it has ended.");\n');
    plant("docs/guide/troubleshooting.md", "- `it is full.` Make room.\n");
    plant("docs/links.md", "[there](odd.md)\n[gone](gone.md)\n");
    plant("docs/machine.md", `See ${["", "home", "someone", "notes"].join("/")}.\n`);

    const tree = readTree(root);
    const found = Object.fromEntries(
      Object.entries(TIDY_RULES).map(([rule, find]) => [
        rule,
        find(root, tree).map(({ file, line }) => `${file}:${line}`),
      ]),
    );

    expect(found).toEqual({
      "core packages touch no clock, chance, console or device": ["packages/stdx/src/clock.ts:2"],
      "exports are named one by one": ["packages/tso-server/src/index.ts:1"],
      "tests draw nothing that they cannot draw again": ["packages/stdx/src/clock.test.ts:1"],
      "no test is run alone": ["packages/stdx/src/clock.test.ts:2"],
      "every package has a README and a CHANGELOG": ["packages/stdx/README.md:3", "packages/scope/README.md:0"],
      "every decision has a status": ["docs/decisions/0002-b.md:0"],
      "every file named in docs/architecture.md exists": ["docs/architecture.md:1"],
      "every test named in docs/invariants.md exists": ["docs/invariants.md:4"],
      "every error message of the command is in docs/guide/troubleshooting.md": ["packages/cli/src/errors.ts:2"],
      "every link between pages leads somewhere": ["docs/links.md:2"],
      "prose is plain English with American spelling": [
        "docs/odd.md:2",
        "docs/odd.md:3",
        "packages/scope/src/odd.ts:1",
        "packages/scope/src/odd.ts:1",
        "packages/scope/src/odd.ts:3",
      ],
      "no file names a machine": ["docs/machine.md:1"],
    });
  });

  function plant(path: string, text: string): void {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
});

describe("impureUses", () => {
  test.each([
    ["Date.now()", "Date.now"],
    ['Date["now"]()', "Date.now"],
    ["globalThis.Date.now()", "Date.now"],
    ["new Date()", "Date by itself"],
    ["new Date", "Date by itself"],
    ["Date()", "Date by itself"],
    ["const { now } = Date", "Date by itself"],
    ["const clock = Date", "Date by itself"],
    ["class Clock extends Date {}", "Date by itself"],
    ["Math.random()", "Math.random"],
    ["const { random } = Math", "Math by itself"],
    ["performance.now()", "performance"],
    ["process.hrtime.bigint()", "process"],
    ["globalThis.process.env", "process"],
    ["console.log(1)", "console"],
    ["globalThis['console'].log(1)", "console"],
    ["const log = { console }", "console"],
    ["(a = console) => a", "console"],
    ["const { a = console } = b", "console"],
    ["setTimeout(() => {}, 1)", "setTimeout"],
    ["const wait = setInterval", "setInterval"],
    ["clearTimeout(1)", "clearTimeout"],
    ["AbortSignal.timeout(5)", "AbortSignal.timeout"],
    ["fetch('x')", "fetch"],
    ["Temporal.Now.instant()", "Temporal.Now"],
    ["import fs from 'node:fs'", "import of node:fs"],
    ["import { readFile } from 'fs/promises'", "import of node:fs/promises"],
    ["import { setTimeout as wait } from 'node:timers/promises'", "import of node:timers/promises"],
    ["import { performance as clock } from 'node:perf_hooks'", "import of node:perf_hooks"],
    ["export { log } from 'node:console'", "import of node:console"],
    ["await import('node:fs')", "import of node:fs"],
  ])("%s is found", (code, what) => {
    expect(impureUses(source(`export {};\n${code};\n`))).toEqual([
      { file: "a.ts", line: 2, what: `${what} in a core package` },
    ]);
  });

  test.each([
    "// Date.now(), Math.random(), console.log",
    "/** `console.log(Date.now())` */ const a = 1",
    "const a = 'Date.now()'",
    "new Date(0)",
    "Date.UTC(2026, 1)",
    "a instanceof Date",
    "Math.max(1, 2)",
    "clock.now()",
    "timers.setTimeout(1)",
    "const timers = { setTimeout: 1, console: 2 }",
    "const { console: log } = ports",
    "type A = typeof setTimeout",
    "const a = (clock: Date, b: typeof performance): Date => clock",
    "interface A { process: 1; fetch(): void }",
    "crypto.getRandomValues(new Uint8Array(8))",
    "import { randomFillSync } from 'node:crypto'",
    "import { inspect } from 'node:util'",
    "import type { Server } from 'node:net'",
    "queueMicrotask(() => {})",
  ])("%s is fine", (code) => {
    expect(impureUses(source(`${code};\n`))).toEqual([]);
  });
});

test("the default backoff may use a timer and chance, and nothing else", () => {
  const text = "setTimeout(() => {}, Math.random()); Date.now();\n";
  const file = "packages/coordination/src/coordinator/backoff-timer.ts";
  expect(impureUses({ file, text }).map(({ what }) => what)).toEqual(["Date.now in a core package"]);
});

describe("starExports", () => {
  test.each(["export * from './a.ts';", "export type * from './a.ts';", "export * as a from './a.ts';"])(
    "%s is found",
    (code) => {
      expect(starExports(source(code))).toHaveLength(1);
    },
  );

  test("named exports are fine", () => {
    expect(
      starExports(source("export { a } from './a.ts'; export type { A } from './a.ts'; // export * from './a.ts'")),
    ).toEqual([]);
  });
});

describe("testCalls", () => {
  test("finds titles in every form, with the groups around them", () => {
    const calls = testCalls(
      source(`
        describe("group", () => {
          test("plain", () => {});
          it("other", { timeout: 5 }, () => {});
          test.each([["a"], ["b"]])("each %s", () => {});
          test.each\`a\${1}\`("table $a", () => {});
          test.prop([fc.nat()])("property", () => {});
          it.skipIf(!isThere)("sometimes", () => {});
          test(\`template\`, () => {});
        });
        describe(\`\${name} as a store\`, () => test("kit", () => {}));
        // test("in a comment", () => {});
        other.test("no test", () => {}); expect("nothing");`),
    );
    expect(calls.map(({ path }) => path)).toEqual([
      ["group"],
      ["group", "plain"],
      ["group", "other"],
      ["group", "each %s"],
      ["group", "table $a"],
      ["group", "property"],
      ["group", "sometimes"],
      ["group", "template"],
      [undefined],
      [undefined, "kit"],
    ]);
    expect(calls.filter(({ isSkipped, isOnly }) => isSkipped || isOnly)).toEqual([]);
  });

  test.each([
    'test.only("a", f)',
    'it.only.each([1])("a", f)',
    'describe.only("a", f)',
    'test.concurrent.only("a", f)',
    'test("a", { only: true }, f)',
  ])("%s runs alone", (code) => {
    expect(testCalls(source(code))).toMatchObject([{ isOnly: true }]);
  });

  test.each(['test.skip("a", f)', 'test.todo("a")', 'test("a", { skip: true }, f)'])("%s does not run", (code) => {
    expect(testCalls(source(code))).toMatchObject([{ isSkipped: true }]);
  });

  test("a skipped group skips what is in it", () => {
    expect(testCalls(source('describe.skip("a", () => { test("b", f); });'))).toMatchObject([
      { isSkipped: true },
      { isSkipped: true },
    ]);
  });
});

describe("unknownTests", () => {
  const tests = testCalls(
    source(
      'describe("g", () => { test("a holds", f); test("b | c", f); test("has `ticks`", f); test.skip("d", f); });',
    ),
  );
  const page = (...cells: string[]): SourceText => ({
    file: "i.md",
    text: `| # | rule | tests |\n| :-- | --- | --- |\n${cells.map((cell) => `| 1 | \`frontier\` | ${cell} |\n`).join("")}`,
  });

  test.each(["`a holds`", "`g > a holds`", "`a holds`, `b \\| c`", "`` has `ticks` ``", "-", ""])(
    "%s is known",
    (cell) => {
      expect(unknownTests(page(cell), tests)).toEqual([]);
    },
  );

  test.each(["`A holds`", "`a holds`, `nothing`", "`h > a holds`", "`d`", "a holds"])("%s is not", (cell) => {
    expect(unknownTests(page("-", cell), tests)).toMatchObject([{ line: 4 }]);
  });

  test("a page without a row is an error: nothing would be checked", () => {
    expect(unknownTests({ file: "i.md", text: "# Invariants\n" }, tests)).toHaveLength(1);
  });
});

describe("documents", () => {
  const complete = {
    folder: "packages/a",
    version: "0.1.0",
    readme: `${INSTALLED}## What it does not do\n`,
    changelog: "## 0.1.0\n",
  };

  test("complete documents are fine", () => {
    expect(packageDocumentFindings(complete)).toEqual([]);
  });

  test.each([
    { ...complete, readme: undefined },
    { ...complete, readme: `${INSTALLED}What it does not do\n` },
    { ...complete, readme: `${INSTALLED}\`\`\`md\n## What it does not do\n\`\`\`\n` },
    { ...complete, readme: "# x\n\n## What it does not do\n" },
    { ...complete, changelog: undefined },
    { ...complete, changelog: "## 0.0.9\n" },
  ])("missing part: %o", (documents) => {
    expect(packageDocumentFindings(documents)).toHaveLength(1);
  });

  test("a decision says where it stands", () => {
    expect(decisionFindings({ file: "d.md", text: "# D\n\nStatus: accepted, 2026-01-01\n" })).toEqual([]);
    expect(decisionFindings({ file: "d.md", text: "# D\n\nStatus:\n" })).toHaveLength(1);
  });
});

describe("machineTraces", () => {
  // Put together here, so that this file does not hold what it forbids.
  const home = ["", "home", "ada", "gossip"].join("/");
  const users = ["", "Users", "ada"].join("/");
  const windows = ["C:", "Users", "ada"].join("\\");
  const registry = ["https:", "", "registry.example.org", "a.tgz"].join("/");
  const local = ["", "srv", "checkout", "a.ts"].join("/");

  test.each([`cd ${home}`, `"${users}"`, windows, `tarball: ${registry}`, `see ${local}.`, `file: "${local}"`])(
    "%s is found",
    (text) => {
      expect(machineTraces({ file: "a", text: `one\n${text}` }, (path) => path === local)).toMatchObject([{ line: 2 }]);
    },
  );

  test.each([
    "/v1/kv/range",
    "/usr/bin/env",
    "a/b/c",
    "https://example.org/home/page",
    "// /a comment",
    "the npm registry",
    "/dev/null",
    "../../x/y",
  ])("%s is fine", (text) => {
    expect(
      machineTraces(
        { file: "a", text },
        (path) => path === local || path.startsWith("/usr") || path.startsWith("/dev"),
      ),
    ).toEqual([]);
  });

  test("this checkout's own path is found", () => {
    expect(machineTraces({ file: "a", text: join(ROOT, "package.json") })).toHaveLength(1);
  });
});

describe("sizes", () => {
  test("a file of 401 lines and a function of 71 are reported, shorter ones are not", () => {
    expect(longFiles(source("\n".repeat(401)))).toHaveLength(1);
    expect(longFiles(source("\n".repeat(400)))).toEqual([]);
    const body = (lineCount: number): SourceText => source(`export function f(): void {${"\n".repeat(lineCount - 1)}}`);
    expect(longFunctions(body(71))).toMatchObject([{ line: 1, what: "f has 71 lines (more than 70)" }]);
    expect(longFunctions(body(70))).toEqual([]);
  });
});

function source(text: string): SourceText {
  return { file: "a.ts", text };
}
