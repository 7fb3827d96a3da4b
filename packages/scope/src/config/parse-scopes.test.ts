// Configuration is written by people and made by tools: a table that cannot be read must say all that
// is wrong with it, at once, and must never bring down the process that reads it.
import { fixedExamples } from "@gossip/tools/fixed-examples";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { InvariantViolation, unwrap } from "@gossip/stdx";
import { bytes } from "../arbitrary.fixture.ts";
import { MAX_ID_LENGTH, MAX_PREFIX_SIZE, MAX_SCOPES } from "../limits.ts";
import { parseScopes, type ParseScopesOptions } from "./parse-scopes.ts";
import { formatScopeProblem, type ScopeProblem } from "./scope-problem.ts";

// On a busy machine a property takes longer than a test is usually given.
vi.setConfig({ testTimeout: 60_000 });

function problems(input: unknown, options?: ParseScopesOptions): readonly ScopeProblem[] {
  const table = parseScopes(input, options);
  return table.ok ? [] : table.error.problems;
}

const shapeOf = (input: unknown): unknown =>
  unwrap(parseScopes(input))
    .scopes()
    .map(({ prefix, writer, fallback }) => [String.fromCharCode(...prefix), writer, fallback]);

describe("a list", () => {
  test("of scopes is a table", () => {
    expect(
      shapeOf([
        { prefix: "app:billing:", writer: "a", fallback: "b" },
        { prefix: bytes("app:auth:"), writer: "c" },
        { prefixHex: "00fF", writer: "d", fallback: null },
      ]),
    ).toEqual([
      ["app:billing:", "a", "b"],
      ["app:auth:", "c", undefined],
      ["\u0000\u00ff", "d", undefined],
    ]);
    expect(shapeOf([])).toEqual([]);
  });

  test("with everything wrong says everything, each scope by itself first", () => {
    const input = [
      { prefix: "a", writer: "n" },
      7,
      { prefix: "", writer: "" },
      { writer: "n", color: "red" },
      { prefix: 1, writer: 2, fallback: 3 },
      { prefix: "b".repeat(MAX_PREFIX_SIZE + 1), writer: "n".repeat(MAX_ID_LENGTH + 1) },
      { prefix: "x", prefixHex: "61", writer: "n" },
      { prefixHex: "6", writer: "n", fallback: "" },
      { prefix: "a", writer: "n" },
      { prefix: "ab", writer: "n" },
    ];
    expect(problems(input)).toEqual([
      { kind: "NotAScope", position: 1 },
      { kind: "EmptyField", position: 2, field: "prefix" },
      { kind: "EmptyField", position: 2, field: "writer" },
      { kind: "UnknownField", position: 3 },
      { kind: "MissingField", position: 3, field: "prefix" },
      { kind: "WrongType", position: 4, field: "prefix" },
      { kind: "WrongType", position: 4, field: "writer" },
      { kind: "WrongType", position: 4, field: "fallback" },
      { kind: "TooLong", position: 5, field: "prefix", size: MAX_PREFIX_SIZE + 1, max: MAX_PREFIX_SIZE },
      { kind: "TooLong", position: 5, field: "writer", size: MAX_ID_LENGTH + 1, max: MAX_ID_LENGTH },
      { kind: "WrongType", position: 6, field: "prefix" },
      { kind: "WrongType", position: 7, field: "prefix" },
      { kind: "EmptyField", position: 7, field: "fallback" },
      { kind: "DuplicatePrefix", prefix: bytes("a"), positions: [0, 8] },
      { kind: "OverlappingPrefix", inner: bytes("ab"), outer: bytes("a"), innerPosition: 9, outerPosition: 0 },
    ]);
  });

  test("may nest where that is asked for", () => {
    const input = [
      { prefix: "a", writer: "n" },
      { prefix: "ab", writer: "m" },
    ];
    expect(problems(input, { nested: "longest" })).toEqual([]);
  });

  test("names nodes that are no peers, where peers are given", () => {
    const input = [
      { prefix: "a", writer: "n", fallback: "x" },
      { prefix: "b", writer: "y" },
    ];
    expect(problems(input, { peers: ["n", "m"] })).toEqual([
      { kind: "UnknownNode", position: 0, field: "fallback" },
      { kind: "UnknownNode", position: 1, field: "writer" },
    ]);
  });
});

describe("text", () => {
  test.each<[string, unknown]>([
    ["", []],
    [" , ,", []],
    ["a:=n", [["a:", "n", undefined]]],
    [
      " a:=n|m , bb:=o, ",
      [
        ["bb:", "o", undefined],
        ["a:", "n", "m"],
      ],
    ],
    ["a=b=c|d|e", [["a", "b=c", "d|e"]]],
  ])("%o", (text, scopes) => {
    expect(shapeOf(text)).toEqual(scopes);
  });

  test.each<[string, object[]]>([
    ["a:", [{ kind: "NotAScope", position: 0 }]],
    ["=n", [{ kind: "EmptyField", position: 0, field: "prefix" }]],
    ["a=", [{ kind: "EmptyField", position: 0, field: "writer" }]],
    ["a=|m", [{ kind: "EmptyField", position: 0, field: "writer" }]],
    ["b=n,a=n|", [{ kind: "EmptyField", position: 1, field: "fallback" }]],
    [
      "a=n,,a=m,bad",
      [
        { kind: "NotAScope", position: 2 },
        { kind: "DuplicatePrefix", prefix: bytes("a"), positions: [0, 1] },
      ],
    ],
  ])("%o is refused", (text, expected) => {
    expect(problems(text)).toEqual(expected);
  });
});

describe("anything else", () => {
  const revoked = (): object => {
    const { proxy, revoke } = Proxy.revocable([], {});
    revoke();
    return proxy;
  };
  const thrower = new Proxy(
    {},
    {
      get: () => {
        throw new Error("no");
      },
    },
  );
  const sparse: unknown[] = [];
  sparse.length = 3;
  const endless: unknown[] = [];
  endless.length = 2 ** 32 - 1;

  test.each<[string, unknown, object[]]>([
    ["nothing", undefined, [{ kind: "NotAList" }]],
    ["null", null, [{ kind: "NotAList" }]],
    ["an object", { prefix: "a", writer: "n" }, [{ kind: "NotAList" }]],
    ["a revoked proxy", revoked(), [{ kind: "NotAList" }]],
    [
      "a list of what cannot be read",
      [
        thrower,
        revoked(),
        {
          get prefix(): string {
            throw new Error("no");
          },
        },
      ],
      [0, 1, 2].map((position) => ({ kind: "Unreadable", position })),
    ],
    ["a list with holes", sparse, [0, 1, 2].map((position) => ({ kind: "NotAScope", position }))],
    ["a list without end", endless, [{ kind: "TooManyScopes", count: 2 ** 32 - 1, max: MAX_SCOPES }]],
    ["a list of lists", [[], [["prefix", "a"]]], [0, 1].map((position) => ({ kind: "NotAScope", position }))],
    [
      "a list of symbols, functions and big numbers",
      [Symbol("a"), () => 1, 1n],
      [0, 1, 2].map((position) => ({ kind: "NotAScope", position })),
    ],
  ])("%s", (_, input, expected) => {
    expect(problems(input)).toEqual(expected);
  });

  test("never throws, and says why it is refused", () => {
    // Mostly what is nearly right, and sometimes anything: a fuzz of pure noise never gets past the first check.
    const field = fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom("a", "ab", "b", "node", "") },
      { weight: 1, arbitrary: fc.anything() },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 3 }) },
    );
    const entry = fc.oneof(
      fc.record({ prefix: field, writer: field }),
      fc.record(
        { prefix: field, prefixHex: field, writer: field, fallback: field, other: field },
        { requiredKeys: [] },
      ),
      fc.anything({ withNullPrototype: true, withTypedArray: true, withBigInt: true, withSparseArray: true }),
    );
    const input = fc.oneof(
      fc.array(entry, { maxLength: 6 }),
      fc.anything(),
      fc.string(),
      fc.array(fc.constantFrom("a", "b", "=", "|", ",", " ", "n"), { maxLength: 24 }).map((parts) => parts.join("")),
    );
    const seen = new Set<string>();
    fc.assert(
      fc.property(input, (given) => {
        const table = parseScopes(given);
        if (table.ok) {
          seen.add("ok");
          return;
        }
        expect(table.error.problems.length).toBeGreaterThan(0);
        for (const problem of table.error.problems) {
          seen.add(problem.kind);
          expect(formatScopeProblem(problem)).toMatch(/^[^\n]+$/);
        }
      }),
      { numRuns: 3_000, examples: fixedExamples(1_500, input) },
    );
    const kinds = [
      "ok",
      "NotAList",
      "NotAScope",
      "UnknownField",
      "MissingField",
      "WrongType",
      "EmptyField",
      "DuplicatePrefix",
      "OverlappingPrefix",
    ];
    expect([...seen]).toEqual(expect.arrayContaining(kinds));
  });

  test("more conflicts than a call takes arguments are still all told", () => {
    const text = Array.from({ length: 150_000 }, (_, index) => `k${index >> 1}:=n`).join(",");
    expect(problems(text).length).toBe(75_000);
  });

  test("options are the program's, and checked as such", () => {
    expect(() => parseScopes([], { peers: 7 as never })).toThrow(InvariantViolation);
    expect(() => parseScopes([], null as never)).toThrow(InvariantViolation);
    expect(() => parseScopes([], { nested: "no" as never })).toThrow(InvariantViolation);
  });
});

test("a problem is reported with line and column from 1, and a prefix only for conflicts", () => {
  const texts = problems([
    { prefix: "secret:", writer: "" },
    { prefix: "a\n", writer: "n" },
    { prefix: "a\n", writer: "n" },
    { prefix: "a\nb", writer: "n" },
  ]).map(formatScopeProblem);
  expect(texts).toEqual([
    "scope 1: writer is empty",
    'prefix "a\\n" is declared 2 times: scopes 2, 3',
    'prefix "a\\nb" (scope 4) is inside prefix "a\\n" (scope 2); nested prefixes are refused unless asked for',
  ]);
});

test("a message shows at most 64 bytes of a prefix", () => {
  const parsed = parseScopes(`${"a".repeat(64)}=n1,${"a".repeat(64)}=n2,${"b".repeat(65)}=n1,${"b".repeat(65)}=n2`);
  expect(parsed.ok ? [] : parsed.error.problems.map(formatScopeProblem)).toEqual([
    `prefix "${"a".repeat(64)}" is declared 2 times: scopes 1, 2`,
    `prefix "${"b".repeat(64)}"… (65 bytes) is declared 2 times: scopes 3, 4`,
  ]);
});
