// An unnoticed change of a package's surface is a broken promise that its users find. The committed lists make
// every such change a line in a review, so a list that is missing, stale or wrong must fail here.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PACKAGES } from "../layers/layers.ts";
import { formatExports, listExports, parseExports } from "./api-list.ts";
import { sharedNames, swappableArguments } from "./conventions.ts";
import { apiProblem, exportsByPackage, readApiFile } from "./packages.ts";

describe("the committed lists", () => {
  let actual: ReturnType<typeof exportsByPackage>;
  beforeAll(() => void (actual = exportsByPackage()));

  test.each(PACKAGES.map((name) => [name]))("packages/%s/api.txt says what the package exports", (name) => {
    expect(apiProblem(name, readApiFile(name), formatExports(actual.get(name)!))).toBeUndefined();
    expect(parseExports(name, readApiFile(name)!)).toEqual(actual.get(name));
  });
});

describe("the conventions of public names", () => {
  const published = PACKAGES.flatMap((name) => parseExports(name, readApiFile(name) ?? ""));

  test("a public name means one thing in every package", () => {
    // The design documents name a clock of milliseconds for the oracle and one of logical time for the protocol.
    expect(sharedNames(published)).toEqual(["Clock: contracts, tso"]);
  });

  test("a public function takes few positional arguments, of different types", () => {
    expect(swappableArguments(published)).toEqual([
      // Symmetric, or in the order that every language has.
      "stdx: compareBytes",
      "stdx: equalBytes",
      "stdx: startsWith",
      // The design documents fix these.
      "frontier: byteMidpoint",
      "frontier: byteMidpointInto",
      // Symmetric.
      "store-kit: hasEntryMoved",
      // Reads in the order of its arguments.
      "protocol: roleIncludes",
    ]);
  });

  test("both conventions find what breaks them", () => {
    const list = parseExports(
      "one",
      [
        ". value same function (a: Map<string, number>, b: () => void, c: Map<string, number>): void",
        ". value many function (a: 1, b: 2, c: 3, d: 4): void",
        ". value overloaded function (a: 1): void; (a: 1, b: 1): void",
        ". both  Built class { new (start: number, end: number); size }",
        ". type  Borrowed class { new (start: number, end: number); size }",
        ". both  Hidden class { private new (start: number, end: number); size }",
        ". value fine function ({ a, b }: { readonly a: string; readonly b: string }, options?: string): void",
      ].join("\n"),
    );
    expect(swappableArguments(list)).toEqual(["one: same", "one: many", "one: overloaded", "one: Built"]);
    const other = parseExports("other", ". value fine const\n. value many function (a: 1, b: 2, c: 3, d: 4): void");
    expect(sharedNames([...list, ...other])).toEqual(["fine: one, other"]);
  });
});

describe("apiProblem", () => {
  test("a missing list says what to run", () => {
    expect(apiProblem("stdx", undefined, "")).toBe("packages/stdx/api.txt is missing: run `pnpm api` and commit it");
  });

  test("a stale list names what went and what came", () => {
    const problem = apiProblem(
      "stdx",
      ". value a function (): 1\n. value b const\n",
      ". value a function (): 2\n. value b const\n",
    );
    expect(problem).toContain("\n- . value a function (): 1\n+ . value a function (): 2");
    expect(problem).not.toContain("b const");
  });

  test("the same list is no problem, an empty one included", () => {
    expect(apiProblem("stdx", "", "")).toBeUndefined();
  });
});

describe("listExports", () => {
  let folder: string;
  beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "gossip-api-"))));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("every form of export is one line, of its kind", () => {
    expect(
      listed({
        "index.ts": `
          export { plain, plain as renamed, overloaded, arrow, LIMIT, TABLE, Companion, Methods, Both, type OnlyType } from "./inner.ts";
          export type { Shape, Union, Both as BothAsType } from "./inner.ts";
          export * as inner from "./inner.ts";`,
        "testing/index.ts": `import type { Both } from "../inner.ts"; export { Both }; export function kit(): void {}`,
        "inner.ts": `
          /** Not part of the line. */
          export function plain(a: Uint8Array, b = 1, ...rest: readonly string[]): a is Uint8Array<ArrayBuffer> { return b > rest.length; }
          export function overloaded(): 0;
          export function overloaded<T>(value: T /* nor this */): T;
          export function overloaded(value?: unknown): unknown { return value ?? 0; }
          export const arrow = (): number => 1;
          export const LIMIT = 16 * 1_024;
          export const TABLE = { a: 1 } as const;
          export interface CompanionShape { fromRaw(raw: bigint): Companion; readonly zero: Companion }
          export type Companion = bigint & { readonly brand: "Companion" };
          export const Companion: CompanionShape = { fromRaw: (raw) => raw as Companion, zero: 0n as Companion };
          export const Methods = { ...TABLE, zero: 0n, fromRaw(raw: bigint): Companion { return raw as Companion; } } as const;
          export class Both<T> extends Array<T> { #hidden = 1; private secret = 2; constructor(size: number) { super(size + this.secret + this.#hidden); } static make(): void {} get size(): number { return 1; } }
          export class OnlyType {}
          export interface Shape { b: 1; a(): void }
          export type Union = { readonly kind: "A" } | { readonly kind: "B"; readonly size: number; f(): void; [key: string]: unknown } | bigint;`,
      }),
    ).toEqual([
      ". both  Both class<T> extends Array<T> { new (size: number); size; static make() }",
      ". type  BothAsType class<T> extends Array<T> { new (size: number); size; static make() }",
      '. both  Companion type = bigint & { readonly brand: "Companion"; } & const: CompanionShape',
      ". value LIMIT const = 16 * 1024",
      ". value Methods const { ...TABLE; fromRaw(); zero }",
      ". type  OnlyType class {  }",
      ". type  Shape interface { a(); b }",
      ". value TABLE const",
      '. type  Union type = { kind: "A" } | { kind: "B"; size; f(); [key: string]: unknown } | bigint',
      ". value arrow function (): number",
      ". value inner namespace",
      ". value overloaded function (): 0; <T>(value: T): T",
      ". value plain function (a: Uint8Array, b?, ...rest: readonly string[]): a is Uint8Array<ArrayBuffer>",
      ". value renamed function (a: Uint8Array, b?, ...rest: readonly string[]): a is Uint8Array<ArrayBuffer>",
      "./testing type  Both class<T> extends Array<T> { new (size: number); size; static make() }",
      "./testing value kit function (): void",
    ]);
  });

  test("a member that comes or goes changes the line", () => {
    const before = listed({ "index.ts": "export class A { a(): void {} }", "testing/index.ts": "" });
    const after = listed({ "index.ts": "export class A { a(): void {} b(): void {} }", "testing/index.ts": "" });
    expect(before).not.toEqual(after);
  });

  test("an export that leads nowhere is an error, not a shorter list", () => {
    expect(() => listed({ "index.ts": 'export { gone } from "./nowhere.ts";', "testing/index.ts": "" })).toThrow(
      /exports gone, which leads nowhere/,
    );
  });

  test("an entry without a file is an error", () => {
    expect(() => listExports([{ package: "x", entry: "./other", file: join(folder, "other.ts") }])).toThrow(
      /does not exist/,
    );
  });

  function listed(files: Readonly<Record<string, string>>): string[] {
    mkdirSync(join(folder, "testing"), { recursive: true });
    for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
    const exports = listExports([
      { package: "x", entry: ".", file: join(folder, "index.ts") },
      { package: "x", entry: "./testing", file: join(folder, "testing/index.ts") },
    ]);
    return formatExports(exports).split("\n").slice(0, -1);
  }
});
