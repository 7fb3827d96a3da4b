// The check is only as good as the drops it sees: each way to lose a `Result` is planted, and so is each way to use one.
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readCompilerOptions } from "../api/program.ts";
import { PACKAGES, ROOT } from "../layers/layers.ts";
import { sourceFiles } from "./check-sources.ts";
import { droppedResults, unresolvedImports } from "./dropped-results.ts";

const MINUTE = 60_000;

const DECLARATIONS = `
import { err, ok, type Result } from "${join(ROOT, "packages/stdx/src/index.ts")}";
declare const store: { put(): Result<number, { kind: "Full" }>; putLater(): Promise<Result<void, { kind: "Full" }>>; clear(): void; fetch(): Promise<{ ok: boolean; error: string }> };
type Own = { ok: true; value: 1 } | { ok: false; error: { kind: "Own" } };
declare function own(): Own;
declare function generic<R extends Result<unknown, unknown>>(): R;
declare const isReady: boolean;
declare const maybe: { put(): Result<number, { kind: "Full" }> } | undefined;
declare function later(callback: () => void): void;
declare function using(callback: () => Result<number, { kind: "Full" }>): void;
declare const items: readonly number[];
`;

const DROPS = [
  "store.put();",
  "(store.put());",
  "store.put()!;",
  "await store.putLater();",
  "store.putLater();",
  "err({ kind: 'Full' } as const);",
  "own();",
  "generic();",
  "isReady && store.put();",
  "isReady || (isReady ?? store.put());",
  "isReady ? store.put() : store.clear();",
  "maybe?.put();",
  "store.put(), store.clear();",
  "for (store.put(); isReady; store.clear()) break;",
  "for (; isReady; store.put()) break;",
  "items.forEach(() => store.put());",
  "later(() => store.put());",
  "later(() => { store.put(); });",
  "if (isReady) store.put();",
  "{ try { store.clear(); } finally { await store.putLater(); } }",
  "export class A { run(): void { store.put(); } }",
  "store\n  .put();",
  'import { test } from "vitest"; test("a", () => { store.put(); });',
  'import { expect } from "vitest"; expect(() => { store.put(); }).toThrow();',
  "export function planted(expect: () => Own): void { expect(); }",
];

const USES = [
  "void store.put();",
  'import { expect as that } from "vitest"; that(store.put()).toEqual(1); await that(store.putLater()).resolves.toBe(1);',
  "void (await store.putLater());",
  "void store.putLater();",
  "store.clear();",
  "await store.fetch();",
  "ok(1);",
  "export const kept = store.put();",
  "let assigned; assigned = store.put(); export { assigned };",
  "let either: unknown; isReady && (either = store.put()); either ??= store.put(); export { either };",
  "store.put().ok || store.clear();",
  "if (store.put().ok) store.clear();",
  "items.map(() => store.put()).forEach((result) => result.ok);",
  "items.forEach(() => void store.put());",
  "using(() => store.put());",
  "export const load = async (): Promise<unknown> => store.putLater();",
  "export function* all(): Generator<unknown> { yield store.put(); }",
  "// store.put();",
];

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "gossip-must-use-"))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("every drop is found, where it stands, and no use is", { timeout: MINUTE }, () => {
  const planted = [
    ...DROPS.map((text) => ({ text, isDrop: true })),
    ...USES.map((text) => ({ text, isDrop: false })),
  ].map(({ text, isDrop }, index) => {
    const file = join(folder, `planted-${index}.mts`);
    writeFileSync(file, `${DECLARATIONS}${text}\nexport {};\n`);
    return { file, text, isDrop };
  });
  const program = ts.createProgram(
    planted.map(({ file }) => file),
    { ...readCompilerOptions(), types: [], noUnusedLocals: false },
  );

  const dropped = droppedResults(
    program,
    planted.map(({ file }) => file),
  );

  const line = DECLARATIONS.split("\n").length;
  const found = planted.map(({ file, text }) => ({
    text,
    lines: dropped.filter((drop) => drop.file === file).map((drop) => drop.line),
  }));
  expect(found).toEqual(planted.map(({ text, isDrop }) => ({ text, lines: isDrop ? [line] : [] })));
});

test("an import that does not resolve is an error: its type would hide every drop", { timeout: MINUTE }, () => {
  const file = join(folder, "unresolved.mts");
  writeFileSync(file, 'import { put } from "./nowhere.mts";\nimport "node:util";\nput();\n');
  const program = ts.createProgram([file], readCompilerOptions());
  expect(unresolvedImports(program, [file])).toEqual([`${file}: "./nowhere.mts" does not resolve`]);
});

test("a file that is not in the program is an error, not a pass", { timeout: MINUTE }, () => {
  expect(() => droppedResults(ts.createProgram([], {}), [join(folder, "nowhere.ts")])).toThrow(
    /not part of the program/,
  );
});

test("every package and every example is looked at, and nothing that is installed", () => {
  const files = sourceFiles().map((file) => relative(ROOT, file));
  const folders = new Set(files.map((file) => file.split("/").slice(0, 2).join("/")));
  const examples = readdirSync(join(ROOT, "examples")).filter((name) =>
    existsSync(join(ROOT, "examples", name, "package.json")),
  );
  expect(examples.length).toBeGreaterThan(0);
  for (const folder of [...PACKAGES.map((name) => `packages/${name}`), ...examples.map((name) => `examples/${name}`)])
    expect(folders).toContain(folder);
  expect(files.filter((file) => /(^|\/)(node_modules|\.[^/]*)\//.test(file))).toEqual([]);
});
