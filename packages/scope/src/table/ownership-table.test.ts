// Who may write is decided here. Each table of scope.md section 2 is written out cell by cell, with
// the decisions W2 and W3 where they differ, so that no change of a verdict goes unseen.
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { InvariantViolation, unwrap } from "@gossip/stdx";
import { bytes, covers, denseBytes, distinctPrefixes, longBytes, nodeId, prefixFree } from "../arbitrary.fixture.ts";
import type { OwnershipError } from "./ownership-error.ts";
import { OwnershipTable } from "./ownership-table.ts";
import { isLocalWriter, isMisdirected, matchedPrefix, misdirectedTarget } from "../route/routing.ts";
import { Scope } from "./scope.ts";

// On a busy machine a property takes longer than a test is usually given.
vi.setConfig({ testTimeout: 60_000 });

const scope = (prefix: string, writer = "w", fallback?: string): Scope => new Scope({ prefix, writer, fallback });

function conflicts(...prefixes: string[]): readonly OwnershipError[] {
  const table = OwnershipTable.build(prefixes.map((prefix, index) => scope(prefix, `node-${index}`)));
  return table.ok ? [] : table.error.conflicts;
}

describe("what a table is made of (2.1)", () => {
  test("an empty list is a table that covers nothing", () => {
    const table = unwrap(OwnershipTable.build([]));
    expect([table.size, table.isEmpty, table.route(bytes("a"), "w").kind, table.lookup(bytes(""))]).toEqual([
      0,
      true,
      "Unknown",
      undefined,
    ]);
  });

  test("one empty prefix owns every key, the empty one too", () => {
    const table = unwrap(OwnershipTable.build([scope("")]));
    expect([table.size, table.isEmpty]).toEqual([1, false]);
    for (const key of ["", "a", "\u0000"]) expect(table.route(bytes(key), "w").kind).toBe("Owned");
  });

  test.each<[string, string[], object[]]>([
    ["the empty prefix and another", ["", "a"], [{ kind: "OverlappingPrefix", inner: bytes("a"), outer: bytes("") }]],
    ["two empty prefixes", ["", ""], [{ kind: "DuplicatePrefix", prefix: bytes("") }]],
    ["one prefix with two writers", ["p", "p"], [{ kind: "DuplicatePrefix", prefix: bytes("p"), positions: [0, 1] }]],
    [
      "app: around app:billing:",
      ["app:", "app:billing:"],
      [{ kind: "OverlappingPrefix", inner: bytes("app:billing:"), outer: bytes("app:") }],
    ],
    [
      "the same, the other way round",
      ["app:billing:", "app:"],
      [{ kind: "OverlappingPrefix", inner: bytes("app:billing:"), outer: bytes("app:") }],
    ],
    [
      "app and app:, for a delimiter means nothing",
      ["app", "app:"],
      [{ kind: "OverlappingPrefix", inner: bytes("app:"), outer: bytes("app") }],
    ],
    ["a: beside ab:", ["a:", "ab:"], []],
    [
      "duplicates before overlaps, all of them",
      ["a", "ab", "b", "b"],
      [
        { kind: "DuplicatePrefix", prefix: bytes("b"), positions: [2, 3] },
        { kind: "OverlappingPrefix", inner: bytes("ab"), outer: bytes("a"), innerPosition: 1, outerPosition: 0 },
      ],
    ],
  ])("%s", (_, prefixes, expected) => {
    expect(conflicts(...prefixes)).toEqual(expected.map((conflict) => expect.objectContaining(conflict)));
  });

  test("an identical scope twice is a duplicate as well", () => {
    const twice = scope("p");
    expect(OwnershipTable.build([twice, twice])).toMatchObject({
      ok: false,
      error: { kind: "ScopeConflicts", conflicts: [{ kind: "DuplicatePrefix" }] },
    });
  });

  test("ids are not looked at: empty, the fallback its own writer, or garbage", () => {
    expect(OwnershipTable.build([scope("a", ""), scope("b", "w", "w"), scope("c", "A;B")]).ok).toBe(true);
  });

  test("scopes are listed by length, the longest first, equal lengths as given (2.2)", () => {
    const table = unwrap(OwnershipTable.build(["bb", "a", "ccc", "dd"].map((prefix) => scope(prefix))));
    expect(table.scopes().map(({ prefix }) => String.fromCharCode(...prefix))).toEqual(["ccc", "bb", "dd", "a"]);
  });

  test("scopes without a fallback are listed for a warning", () => {
    const table = unwrap(OwnershipTable.build([scope("a"), scope("b", "w", "f"), scope("cc")]));
    expect(table.scopesWithoutFallback().map(({ prefix }) => String.fromCharCode(...prefix))).toEqual(["cc", "a"]);
  });

  test("a list that is changed afterwards changes nothing", () => {
    const list = [scope("a")];
    const table = unwrap(OwnershipTable.build(list));
    list.push(scope("b"));
    expect(table.lookup("b")).toBeUndefined();
  });

  test.each<[string, () => unknown]>([
    ["no list", () => OwnershipTable.build(undefined as never)],
    ["a list of something else", () => OwnershipTable.build([{ prefix: "a", writer: "w" } as never])],
    ["a list with a hole", () => OwnershipTable.build([scope("a"), undefined as never])],
    ["another way to nest", () => OwnershipTable.build([], { nested: "shortest" as never })],
    ["a key that is a number", () => unwrap(OwnershipTable.build([])).lookup(7 as never)],
    ["a key that is an array", () => unwrap(OwnershipTable.build([])).route([97] as never, "w")],
    ["a node that is no text", () => unwrap(OwnershipTable.build([])).route(bytes("a"), undefined as never)],
    [
      "no way to tell who is down",
      () => unwrap(OwnershipTable.build([])).routeWithFallbackState(bytes("a"), "w", undefined as never),
    ],
  ])("bad input is described in a sentence: %s", (_, act) => {
    expect(act).toThrow(InvariantViolation);
  });
});

describe("route (2.4)", () => {
  const table = unwrap(OwnershipTable.build([scope("app:billing:", "w", "f")]));

  test.each<[string, string, string, object]>([
    ["no scope, any node", "other", "w", { kind: "Unknown" }],
    ["the writer", "app:billing:1", "w", { kind: "Owned" }],
    ["the fallback", "app:billing:1", "f", { kind: "Misdirected", target: "w" }],
    ["a third node", "app:billing:1", "x", { kind: "Misdirected", target: "w" }],
    ["a key equal to the prefix", "app:billing:", "w", { kind: "Owned" }],
    ["a key one byte shorter", "app:billing", "w", { kind: "Unknown" }],
  ])("%s", (_, key, self, verdict) => {
    expect(table.route(bytes(key), self)).toMatchObject(verdict);
  });

  test("names the matched prefix, and epoch 0 because a table has no history", () => {
    const verdict = table.route(bytes("app:billing:1"), "x");
    expect(verdict).toEqual({ kind: "Misdirected", scope: table.scopes()[0], epoch: 0, target: "w" });
    expect([matchedPrefix(verdict), matchedPrefix(table.route(bytes("other"), "x"))]).toEqual([
      bytes("app:billing:"),
      undefined,
    ]);
  });

  test("writing into a verdict or a prefix does not change what is routed where", () => {
    const verdict = table.route(bytes("app:billing:1"), "w");
    matchedPrefix(verdict)!.fill(0);
    expect(() => Object.assign(verdict, { kind: "Unknown" })).toThrow(TypeError);
    table.scopes()[0]!.prefix.fill(0);
    expect(table.route(bytes("app:billing:2"), "w").kind).toBe("Owned");
    expect(table.scopes()[0]!.prefix).toEqual(bytes("app:billing:"));
  });
});

describe("routeWithFallbackState (2.5, with W3)", () => {
  const verdicts = ({
    hasFallback,
    isWriterDown,
  }: {
    hasFallback: boolean;
    isWriterDown: boolean;
  }): Record<string, string> => {
    const table = unwrap(OwnershipTable.build([scope("p:", "w", hasFallback ? "f" : undefined)]));
    return Object.fromEntries(
      ["w", "f", "x"].map((self) => {
        const verdict = table.routeWithFallbackState(bytes("p:1"), self, (node) => isWriterDown && node === "w");
        return [self, verdict.kind === "Misdirected" ? `to ${verdict.target}` : verdict.kind];
      }),
    );
  };

  test.each([
    { hasFallback: true, isWriterDown: false, expected: { w: "Owned", f: "to w", x: "to w" } },
    { hasFallback: true, isWriterDown: true, expected: { w: "to f", f: "Owned", x: "to f" } },
    { hasFallback: false, isWriterDown: false, expected: { w: "Owned", f: "to w", x: "to w" } },
    { hasFallback: false, isWriterDown: true, expected: { w: "Unavailable", f: "Unavailable", x: "Unavailable" } },
  ])("fallback declared: $hasFallback, writer down: $isWriterDown", ({ expected, ...state }) => {
    expect(verdicts(state)).toEqual(expected);
  });

  test("Unavailable names the writer", () => {
    const table = unwrap(OwnershipTable.build([scope("p:")]));
    expect(table.routeWithFallbackState(bytes("p:1"), "x", () => true)).toEqual({
      kind: "Unavailable",
      scope: table.scopes()[0],
      epoch: 0,
      writer: "w",
    });
  });

  test("a fallback that is down too is still named, and a fallback that is the writer stays the writer", () => {
    const table = unwrap(OwnershipTable.build([scope("p:", "w", "f"), scope("q:", "w", "w")]));
    expect(table.routeWithFallbackState(bytes("p:1"), "x", () => true)).toMatchObject({
      kind: "Misdirected",
      target: "f",
    });
    expect(table.routeWithFallbackState(bytes("q:1"), "w", () => true)).toMatchObject({ kind: "Owned" });
    expect(table.routeWithFallbackState(bytes("q:1"), "x", () => true)).toMatchObject({
      kind: "Misdirected",
      target: "w",
    });
  });

  test("asks once, about the writer, and not at all for a key without a scope", () => {
    const table = unwrap(OwnershipTable.build([scope("p:", "w", "f")]));
    const asked: string[] = [];
    const isDown = (node: string): boolean => asked.push(node) > 0;
    expect(table.routeWithFallbackState(bytes("p:1"), "x", isDown).kind).toBe("Misdirected");
    expect(asked).toEqual(["w"]);
    expect(table.routeWithFallbackState(bytes("other"), "x", isDown).kind).toBe("Unknown");
    expect(asked).toEqual(["w"]);
  });
});

describe("the verdict's helpers (1.2)", () => {
  const table = unwrap(OwnershipTable.build([scope("p:")]));
  test.each([
    { key: "p:", self: "w", isLocal: true, isElsewhere: false, target: undefined },
    { key: "p:", self: "x", isLocal: false, isElsewhere: true, target: "w" },
    { key: "q:", self: "w", isLocal: false, isElsewhere: false, target: undefined },
  ])("$key at $self", ({ key, self, isLocal, isElsewhere, target }) => {
    const verdict = table.route(bytes(key), self);
    expect([isLocalWriter(verdict), isMisdirected(verdict), misdirectedTarget(verdict)]).toEqual([
      isLocal,
      isElsewhere,
      target,
    ]);
  });
});

describe("any table", () => {
  const keys = fc.array(fc.oneof(denseBytes, longBytes), { minLength: 1, maxLength: 8 });
  const scopesOver = (prefixes: fc.Arbitrary<Uint8Array[]>): fc.Arbitrary<Scope[]> =>
    prefixes
      .chain((list) =>
        fc.tuple(
          ...list.map((prefix) =>
            fc.record({ prefix: fc.constant(prefix), writer: nodeId, fallback: fc.option(nodeId, { nil: undefined }) }),
          ),
        ),
      )
      .map((list) => list.map((options) => new Scope(options)));

  function scan(scopes: readonly Scope[], key: Uint8Array): Scope | undefined {
    return scopes.filter(({ prefix }) => covers(prefix, key)).sort((a, b) => b.prefix.length - a.prefix.length)[0];
  }

  test.each(["refuse", "longest"] as const)(
    "agrees with the longest prefix of a scan, text or bytes, nested: %s",
    (nested) => {
      fc.assert(
        fc.property(scopesOver(nested === "refuse" ? prefixFree : distinctPrefixes), keys, (scopes, others) => {
          const table = unwrap(OwnershipTable.build(scopes, { nested }));
          for (const key of [...others, ...scopes.flatMap(({ prefix }) => [prefix, Uint8Array.of(...prefix, 0x61)])]) {
            expect(table.lookup(key)).toBe(scan(scopes, key));
            const text = new TextDecoder().decode(key);
            expect(table.lookup(text)).toBe(scan(scopes, new TextEncoder().encode(text)));
          }
        }),
      );
    },
  );

  test.each(["refuse", "longest"] as const)(
    "finds for text what it finds for its UTF-8, whatever the text and the prefixes, nested: %s",
    (nested) => {
      // Units that are one, two, three and four bytes, half a pair, and bytes that look like units.
      const part = fc.constantFrom(
        "a",
        "\u0000",
        "\u007f",
        "\u0080",
        "\u00e9",
        "\u00ff",
        "\u20ac",
        "\ud83d\ude00",
        "\ud83d",
      );
      const text = fc.array(part, { maxLength: 4 }).map((parts) => parts.join(""));
      const prefix = fc.oneof(
        text.map(bytes),
        fc
          .array(fc.constantFrom(0x61, 0x80, 0xe9, 0xff, 0xc3), { maxLength: 4 })
          .map((values) => Uint8Array.from(values)),
      );
      fc.assert(
        fc.property(
          fc.uniqueArray(prefix, { maxLength: 12, selector: String }),
          fc.array(text, { maxLength: 12 }),
          (prefixes, texts) => {
            const kept =
              nested === "longest"
                ? prefixes
                : prefixes.filter((one) => !prefixes.some((other) => other !== one && covers(other, one)));
            const table = unwrap(
              OwnershipTable.build(
                kept.map((one) => new Scope({ prefix: one, writer: "w" })),
                { nested },
              ),
            );
            for (const key of [...texts, ...kept.map((one) => new TextDecoder().decode(one))])
              expect(table.lookup(key)).toBe(table.lookup(bytes(key)));
          },
        ),
        { numRuns: 500 },
      );
    },
  );

  test("gives one verdict for a key, which follows from its scope alone, and never sends a node to itself", () => {
    fc.assert(
      fc.property(scopesOver(prefixFree), keys, nodeId, fc.subarray(["a", "b", "c"]), (scopes, others, self, down) => {
        const table = unwrap(OwnershipTable.build(scopes));
        for (const key of [...others, ...scopes.map(({ prefix }) => prefix)]) {
          const found = scan(scopes, key);
          const isDown = (node: string): boolean => down.includes(node);
          const plain = table.route(key, self);
          const aware = table.routeWithFallbackState(key, self, isDown);
          expect([misdirectedTarget(plain), misdirectedTarget(aware)]).not.toContain(self);
          expect(plain.kind).toBe(found === undefined ? "Unknown" : found.writer === self ? "Owned" : "Misdirected");
          if (found === undefined) expect(aware.kind).toBe("Unknown");
          else if (isDown(found.writer) && found.fallback === undefined) expect(aware.kind).toBe("Unavailable");
          else
            expect(aware.kind).toBe(
              (isDown(found.writer) ? found.fallback : found.writer) === self ? "Owned" : "Misdirected",
            );
          // The same question has the same answer, and the same object.
          expect(table.route(key, self)).toBe(plain);
        }
      }),
    );
  });

  test("is refused exactly where two prefixes are one or nested", () => {
    fc.assert(
      fc.property(fc.array(denseBytes, { maxLength: 8 }), (prefixes) => {
        const hasConflict = prefixes.some((prefix, index) =>
          prefixes.some((other, place) => place !== index && covers(other, prefix)),
        );
        expect(OwnershipTable.build(prefixes.map((prefix) => new Scope({ prefix, writer: "w" }))).ok).toBe(
          !hasConflict,
        );
      }),
    );
  });
});
