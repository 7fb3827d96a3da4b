// An example that is wrong is worse than none: it is the first thing that people try. So the runner itself is tried with
// examples that are right and with every way to be wrong, and each wrong one must be named by file and line.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readBlocks, type Block } from "./blocks.ts";
import { Engines } from "./engines.ts";
import { isLike } from "./harness.ts";
import { staticFailures } from "./languages.ts";
import { installFailures } from "./install-line.ts";
import { NOT_RUN, notRunReason, staleEntries } from "./not-run.ts";
import { exampleBlocks, examplePages, resolveFromRoot } from "./pages.ts";
import { runShell } from "./run-shell.ts";
import { runSql } from "./run-sql.ts";
import { runTypeScript } from "./run-typescript.ts";
import { typeCheckBlocks } from "./type-check.ts";

const MINUTE = 60_000;

describe("readBlocks", () => {
  test("finds every block with its line and language", () => {
    const page = [
      "# A",
      "```ts",
      "a;",
      "b;",
      "```",
      "",
      "```sh",
      "npm test",
      "```",
      "- item",
      "  ```typescript",
      "  c;",
      "  ```",
      "````md",
      "```ts",
      "no;",
      "```",
      "````",
      "~~~ts",
      "d;",
      "~~~",
    ].join("\n");
    expect(readBlocks("a.md", page)).toEqual([
      { file: "a.md", line: 3, language: "ts", code: "a;\nb;\n" },
      { file: "a.md", line: 8, language: "sh", code: "npm test\n" },
      { file: "a.md", line: 12, language: "typescript", code: "c;\n" },
      { file: "a.md", line: 15, language: "md", code: "```ts\nno;\n```\n" },
      { file: "a.md", line: 20, language: "ts", code: "d;\n" },
    ]);
  });
});

const block = (language: string, ...lines: string[]): Block => ({
  file: "page.md",
  line: 10,
  language,
  code: `${lines.join("\n")}\n`,
});

describe("staticFailures", () => {
  test("a quote must stand in the file that it names, at any indentation", () => {
    const quote = (...lines: string[]): Block => ({
      ...block("ts", ...lines),
      file: "examples/sqlite-store/README.md",
      quotes: "sqlite-file.ts",
    });
    expect(readBlocks("a.md", "```ts from b.ts\na;\n```")).toMatchObject([{ language: "ts", quotes: "b.ts" }]);
    expect(staticFailures(quote("try {", '  this.run("COMMIT");', "} catch (thrown) {"))).toEqual([]);
    expect(staticFailures(quote("try {", 'this.run("COMMIT");', "} catch (thrown) {"))).toHaveLength(1);
    expect(staticFailures(quote('this.run("COMMIT", 1);'))).toHaveLength(1);
  });

  test.each([
    'import { a } from "@gossip/stdx";',
    "const opened = await open();",
    "  await open();",
    "gossip run --source fs:/data",
    "SELECT 1;",
    "npx gossip-tso serve",
  ])("%j fenced as text is a failure", (line) => {
    expect(staticFailures(block("text", "first line", line))).toHaveLength(1);
  });

  test.each(["worker 2: 14 rows, 8 refused, then Done", "gossip/", "Run 4f2a: fs:/data through sha256sum {}"])(
    "%j fenced as text is none",
    (line) => {
      expect(staticFailures(block("text", line))).toEqual([]);
    },
  );

  test("JSON must parse, and a language must be one that is checked", () => {
    expect(staticFailures(block("json", '{ "a": 1 }'))).toEqual([]);
    expect(staticFailures(block("json", "{ a: 1 }"))).toEqual([{ file: "page.md", line: 10, what: "is not JSON" }]);
    expect(staticFailures(block("", "a"))).toHaveLength(1);
    expect(staticFailures(block("js", "a;"))).toHaveLength(1);
  });
});

describe("blocks that are not run", () => {
  test("the table names blocks and checks that exist", () => {
    expect(staleEntries(exampleBlocks())).toEqual([]);
  });

  test("an entry without a block, or without a check, is a failure", () => {
    const [entry] = NOT_RUN;
    expect(staleEntries(exampleBlocks(), [{ ...entry!, contains: "no such command" }])).toHaveLength(1);
    expect(staleEntries(exampleBlocks(), [{ ...entry!, checkedBy: "no/such/file.ts" }])).toHaveLength(1);
  });

  test("everything that the table does not name is run", () => {
    expect(notRunReason(block("sh", "npm start"))).toBeUndefined();
    expect(notRunReason({ ...block("sh", "gossip status"), file: "README.md" })).toBeUndefined();
  });
});

describe("runShell", { timeout: MINUTE }, () => {
  test("a block runs in a folder of its own, where /data has files", async () => {
    expect(await runShell(block("sh", "cat /data/a.txt", "test ! -e no-such-file", "mkdir made && cd made"))).toEqual(
      [],
    );
  });

  test("a command that fails in the middle is a failure", async () => {
    expect(await runShell(block("sh", "echo said; false", "true"))).toEqual([
      { file: "page.md", line: 10, what: "ends with code 1: said" },
    ]);
    expect(await runShell(block("sh", "npx other"))).toHaveLength(1);
  });

  test("a command that does not end is a failure, and is ended", async () => {
    const [failure] = await runShell(block("sh", "sleep 1000 & sleep 1000"), { timeLimitMs: 300 });
    expect(failure?.what).toBe("did not end within 300 ms: ");
  });
});

describe("Engines", { timeout: MINUTE }, () => {
  const engines = new Engines();
  afterAll(() => engines.dispose());

  test("SQL runs on the store's own tables; a wrong statement is named by its line", async () => {
    const right = [
      "SELECT run FROM gossip.shard_overview",
      "WHERE run = 42;",
      "UPDATE orders SET total = $1 WHERE id = $2",
    ];
    expect(await runSql(block("sql", ...right), engines)).toEqual([]);
    expect(
      await runSql(block("sql", ...right, ";", "SELECT 1;", "SELECT gone FROM gossip.shard_overview"), engines),
    ).toEqual([{ file: "page.md", line: 15, what: 'column "gone" does not exist' }]);
  });

  test("an address of db.internal becomes a database of the block's own", async () => {
    const source = 'open("postgres://app:secret@db.internal/gossip?sslmode=verify-full");';
    const [one, other] = [await engines.open(source), await engines.open(source)];
    const real = one.toReal(source);
    expect(real).toMatch(/^open\("postgres:\/\/[^"]*@127\.0\.0\.1:\d+\/example_\d+_gossip"\);$/);
    expect(one.toReal(source)).toBe(real);
    expect(other.toReal(source)).not.toBe(real);
    expect(one.toPage(`at ${/127[^"]*/.exec(real)![0]}`)).toBe("at db.internal/gossip");
    await expect(engines.open('"postgres://db.internal/other"')).rejects.toThrow("other");
  });
});

describe("runTypeScript", { timeout: MINUTE }, () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "gossip-readme-"));
    mkdirSync(join(folder, "dist"));
    writeFileSync(
      join(folder, "package.json"),
      JSON.stringify({
        name: "@planted/self",
        type: "module",
        exports: { ".": { "@gossip/source": "./src/none.ts", default: "./dist/index.js" } },
      }),
    );
    writeFileSync(
      join(folder, "dist/index.js"),
      "export const answer = () => 42; export const explode = () => { throw new RangeError('too far'); };\n",
    );
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  // The first line of code is line 10 of the page.
  const run = async (...code: string[]): Promise<string[]> => {
    const failures = await runTypeScript(block("ts", ...code), { folder, timeLimitMs: 20_000 });
    return failures.map(({ file, line, what }) => `${file}:${line}: ${what}`);
  };

  test("right examples pass, in all the forms that a page may use", async () => {
    expect(
      await run(
        'import { answer } from "@planted/self";',
        'import type { Server } from "node:net";',
        "answer(); // => 42",
        "const x: number = answer(); // => 42",
        "export const y = x + 1 // => 43",
        "let z; z = 7n; // => 7n",
        "await Promise.resolve([1, 2]); // => [1, 2]",
        "({ kind: 'A', sizes: Uint8Array.of(1, 2) }); // => { kind: \"A\", sizes: Uint8Array.of(1, 2) }",
        "new Map([[1, new Set(['a'])]]); // => new Map([[1, new Set([\"a\"])]])",
        "answer()",
        "  // => 42",
        "for (const n of [2, 2]) {",
        "  n * 2; // => 4",
        "}",
        "if (x > 1) answer(); // => x",
        "const text = '// => not a mark';",
        "const template = `",
        "// => nor this`;",
        "// a comment, and no mark: => 5",
        "undefined; // => undefined",
        "export type Port = Server;",
      ),
    ).toEqual([]);
  });

  test("a wrong value is named by its line, with both values", async () => {
    expect(await run('import { answer } from "@planted/self";', "", "answer(); // => 41")).toEqual([
      "page.md:12: is 42, and the example says 41",
    ]);
    expect(await run("const a = { b: [1n] }; // => { b: [1] }")).toEqual([
      "page.md:10: is { b: [ 1n ] }, and the example says { b: [ 1 ] }",
    ]);
  });

  test("every wrong value of a block is named", async () => {
    expect(await run("1; // => 2", "2; // => 2", "3; // => 4")).toHaveLength(2);
  });

  test("a block that throws is named by the statement that does", async () => {
    expect(await run('import { explode } from "@planted/self";', "const a = 1;", "explode();", "a; // => 1")).toEqual([
      "page.md:12: throws RangeError: too far",
    ]);
    expect(await run("const a = 1;", "await Promise.reject(new Error('later'));")).toEqual([
      "page.md:11: throws Error: later",
    ]);
    expect(await run("throw 'text';")).toEqual(["page.md:10: throws 'text'"]);
  });

  test("an expected value that throws is a failure", async () => {
    expect(await run("1; // => nowhere")).toEqual(["page.md:10: throws ReferenceError: nowhere is not defined"]);
  });

  test("a missing export, package or file is a failure", async () => {
    expect(await run('import { gone } from "@planted/self";', "gone();")).toEqual([
      expect.stringMatching(/^page\.md:10: .*gone/s),
    ]);
    expect(await run('import "@planted/other";')).toEqual([expect.stringMatching(/^page\.md:10: .*@planted\/other/s)]);
  });

  test("a mark that is never reached is a failure", async () => {
    expect(await run("function never(): void {", "  1; // => 1", "}", "if (1 > 2) never();")).toEqual([
      "page.md:11: this // => was never reached",
    ]);
  });

  test("a mark that belongs to nothing is a failure", async () => {
    expect(await run("// => 1")).toHaveLength(1);
    expect(await run("function f(): void {} // => 1")).toHaveLength(1);
    expect(await run("const { a } = { a: 1 }; // => 1")).toHaveLength(1);
    expect(await run("1; // => 1", "// => 1")).toHaveLength(1);
  });

  test("an import of an internal entry is a failure", async () => {
    expect(await run('import { JsonReader } from "@gossip/contracts/internal";\nJsonReader;')).toEqual([
      "page.md:10: imports an ./internal entry, which users cannot",
    ]);
  });

  test("an expected text that is no expression is a failure", async () => {
    expect(await run("1; // => 1 or so")).toEqual(["page.md:10: what stands after => is no expression: 1 or so"]);
    expect(await run("1; // =>")).toHaveLength(1);
  });

  test("a block that does not parse is named by its line", async () => {
    expect(await run("const a = 1;", "const = 2;")).toContainEqual(expect.stringMatching(/^page\.md:11: /));
  });

  test("a block that leaves early, waits forever or runs forever is a failure", async () => {
    expect(await run("process.exit(0);", "1; // => 1")).toEqual(["page.md:11: this // => was never reached"]);
    expect(await run("process.exit(3);")).toHaveLength(1);
    expect(await run("await new Promise(() => undefined);")).toEqual([
      "page.md:10: awaits a promise that never settles",
    ]);
    const endless = await runTypeScript(block("ts", "for (;;);"), { folder, timeLimitMs: 500 });
    expect(endless).toEqual([{ file: "page.md", line: 10, what: "did not end within 500 ms" }]);
  });
});

describe("isLike", () => {
  class Shown {
    a = 1;
  }
  class Hidden {
    #a = 1;
    read(): number {
      return this.#a;
    }
  }

  test.each([
    [1, 1],
    [Number.NaN, Number.NaN],
    [new Shown(), { a: 1 }],
    [Object.assign(Object.create({ toJSON() {} }) as object, { kind: "A", at: 1n }), { kind: "A", at: 1n }],
    [[{ a: undefined }], [{ a: undefined }]],
    [{}, {}],
  ])("%o is like %o", (actual, expected) => {
    expect(isLike(actual, expected)).toBe(true);
  });

  test.each([
    [1, "1"],
    [1, 1n],
    [-0, 0],
    [{ a: 1, b: 2 }, { a: 1 }],
    [{ a: 1 }, { a: 1, b: 2 }],
    [{}, { a: undefined }],
    [[1], { 0: 1 }],
    [Uint8Array.of(1), [1]],
    [Uint8Array.of(1), { 0: 1 }],
    [Uint8Array.of(1), Uint8Array.of(2)],
    [Array(1), [undefined]],
    [new Hidden(), {}],
    [new Map([[1, 2]]), {}],
    [null, {}],
    [undefined, {}],
    [{ a: 1 }, new Shown()],
  ])("%o is not like %o", (actual, expected) => {
    expect(isLike(actual, expected)).toBe(false);
  });
});

describe("pages", () => {
  test("the root README, every package's and the documents are read", () => {
    expect(examplePages()).toEqual(
      expect.arrayContaining([
        "README.md",
        "packages/stdx/README.md",
        "docs/architecture.md",
        "examples/hash-tree/README.md",
      ]),
    );
  });

  test("a page outside the packages reaches them through their exports", () => {
    expect(resolveFromRoot("@gossip/coordination")).toMatch(/^file:.*\/packages\/coordination\/dist\/index\.js$/);
    expect(resolveFromRoot("@gossip/coordination/testing")).toMatch(
      /^file:.*\/packages\/coordination\/dist\/testing\/index\.js$/,
    );
    expect(resolveFromRoot("@gossip/coordination/deep")).toBe("@gossip/coordination/deep");
    expect(resolveFromRoot("node:util")).toBe("node:util");
  });
});

describe("typeCheckBlocks", { timeout: MINUTE }, () => {
  test("blocks are checked where they stand, in packages and outside", () => {
    const right = 'import { ok } from "@gossip/stdx";\nconst one: number = ok(1).value;\nawait Promise.resolve(one);\n';
    const wrong = 'import { ok } from "@gossip/stdx";\n\nconst one: string = ok(1).value;\n';
    const failures = typeCheckBlocks([
      { file: "packages/stdx/README.md", line: 10, language: "ts", code: right },
      { file: "packages/stdx/README.md", line: 20, language: "ts", code: wrong },
      { file: "docs/page.md", line: 30, language: "ts", code: right },
      { file: "docs/page.md", line: 40, language: "ts", code: wrong },
      // Scope does not depend on frontier, so its README may not either.
      {
        file: "packages/scope/README.md",
        line: 50,
        language: "ts",
        code: 'import "@gossip/stdx";\nimport type { A } from "@gossip/frontier";\nexport type B = A;\n',
      },
    ]);
    expect(failures.map(({ file, line }) => `${file}:${line}`)).toEqual([
      "packages/stdx/README.md:22",
      "docs/page.md:42",
      "packages/scope/README.md:51",
    ]);
  });
});

describe("install commands", () => {
  const file = "packages/frontier/README.md";
  const install = (code: string): Block => ({ file, line: 4, language: "sh", code: `${code}\n` });
  const example: Block = {
    file,
    line: 10,
    language: "ts",
    code: 'import { a } from "@gossip/frontier";\nimport { b } from "@gossip/stdx";\nimport "node:fs";\n',
  };

  test("one that names what the examples import passes, and is not run", () => {
    const right = install("npm install @gossip/frontier @gossip/stdx");
    expect(installFailures([right, example])).toEqual([]);
    expect(notRunReason(right)?.checkedBy).toBe("tools/packaging/packaging.test.ts");
  });

  test("one that leaves out a package is a failure", () => {
    expect(installFailures([install("npm install @gossip/frontier"), example])).toEqual([
      { file, line: 4, what: "does not install @gossip/stdx, which the page uses" },
    ]);
    expect(installFailures([install("npm install @gossip/stdx")])).toEqual([
      { file, line: 4, what: "does not install @gossip/frontier, which the page uses" },
    ]);
  });

  test("a block that does more, or is on another page, is run", () => {
    expect(notRunReason(install("npm install @gossip/frontier && rm -rf x"))).toBeUndefined();
    expect(notRunReason({ ...install("npm install @gossip/frontier"), file: "docs/a.md" })).toBeUndefined();
  });
});
