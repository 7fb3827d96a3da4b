// A child that keeps its parent's hint tells its worker to do its siblings' work as well. A child whose bounds do not fit the
// hint has no true one, and must be refused before it exists.
import { compareBytes, InvariantViolation, unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { manifestHint } from "./hints.fixture.ts";
import { encodeKey } from "../keys/key-encoding.ts";
import { ascii, bytes, denseKey, filled, hex, join } from "../keys.fixture.ts";
import { ManifestRowKey } from "../keys/manifest-row-key.ts";
import { prefixSuccessor } from "../arithmetic/successors.ts";
import { propagateHintOnSplit } from "./propagate-hint.ts";
import { ShardHint } from "./shard-hint.ts";

// Many runs each: on a busy machine they take longer than a test is usually given.
vi.setConfig({ testTimeout: 60_000 });

function row(manifestId: bigint, rowNumber: bigint): Uint8Array {
  return encodeKey(new ManifestRowKey({ manifestId, row: rowNumber }));
}

function propagate(
  hint: ShardHint,
  childStart: Uint8Array,
  childEnd: Uint8Array,
): ReturnType<typeof propagateHintOnSplit> {
  return propagateHintOnSplit(hint, { childStart, childEnd });
}

const refused = (error: unknown): object => ({ ok: false, error });

describe("Range", () => {
  test("propagate hint on split range stays range", () => {
    fc.assert(
      fc.property(denseKey(), denseKey(), (start, end) => {
        expect(propagate(ShardHint.RANGE, start, end)).toEqual({ ok: true, value: { kind: "Range" } });
      }),
    );
    expect(propagate(ShardHint.RANGE, filled(9999), bytes()).ok).toBe(true);
  });
});

describe("Prefix", () => {
  const logs: ShardHint = { kind: "Prefix", prefix: ascii("ab") };

  test("propagate hint on split prefix demotes to range", () => {
    expect(propagate(logs, ascii("ab"), ascii("ac"))).toEqual({ ok: true, value: { kind: "Range" } });
    expect(propagate(logs, ascii("abc"), ascii("abd"))).toEqual({ ok: true, value: { kind: "Range" } });
  });

  test("propagate hint on split prefix rejects out of range start", () => {
    for (const start of ["aa", "a", "ac", "b", ""]) {
      expect(propagate(logs, ascii(start), ascii("abz"))).toEqual(
        refused({ kind: "InvalidPrefixBoundary", boundary: "Start" }),
      );
    }
  });

  test("propagate hint on split prefix rejects out of range end", () => {
    for (const end of ["ab", "aa", "ac\0", "ad", ""]) {
      expect(propagate(logs, ascii("ab"), ascii(end))).toEqual(
        refused({ kind: "InvalidPrefixBoundary", boundary: "End" }),
      );
    }
    expect(propagate(logs, ascii("abc"), ascii("abc"))).toEqual(
      refused({ kind: "InvalidPrefixBoundary", boundary: "End" }),
    );
    expect(propagate(logs, ascii("abd"), ascii("abc"))).toEqual(
      refused({ kind: "InvalidPrefixBoundary", boundary: "End" }),
    );
  });

  test("a prefix without an upper bound is refused at its end, whatever the child", () => {
    for (const prefix of [bytes(), hex("ffff"), filled(4097)]) {
      expect(propagate({ kind: "Prefix", prefix }, prefix, hex("ff"))).toEqual(
        refused({ kind: "InvalidPrefixBoundary", boundary: "End" }),
      );
    }
  });

  test("is accepted exactly when the child is a range inside the prefix", () => {
    fc.assert(
      fc.property(denseKey({ min: 1, max: 2 }), denseKey(), denseKey(), (prefix, start, end) => {
        const top = prefixSuccessor(prefix);
        fc.pre(top !== undefined);
        const isInside =
          compareBytes(prefix, start) <= 0 && compareBytes(start, end) < 0 && compareBytes(end, top) <= 0;
        expect(propagate({ kind: "Prefix", prefix }, start, end).ok).toBe(isInside);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("Manifest", () => {
  const parent = manifestHint(7n, 10n, 20n);

  test("propagate hint on split manifest adjusts child rows", () => {
    expect(unwrap(propagate(parent, row(7n, 12n), row(7n, 15n)))).toEqual(manifestHint(7n, 12n, 15n));
    expect(unwrap(propagate(parent, row(7n, 10n), row(7n, 11n)))).toEqual(manifestHint(7n, 10n, 11n));
  });

  test("propagate hint on split manifest child end at parent end", () => {
    expect(unwrap(propagate(parent, row(7n, 19n), row(7n, 20n)))).toEqual(manifestHint(7n, 19n, 20n));
    expect(unwrap(propagate(parent, row(7n, 10n), row(7n, 20n)))).toEqual(parent);
  });

  test("propagate hint on split manifest rejects non manifest boundaries", () => {
    for (const start of [bytes(), ascii("abc"), join(row(7n, 12n), bytes(0)), row(7n, 12n).subarray(1)]) {
      expect(propagate(parent, start, row(7n, 15n))).toEqual(
        refused({ kind: "InvalidManifestBoundary", boundary: "Start" }),
      );
      expect(propagate(parent, start, start)).toEqual(refused({ kind: "InvalidManifestBoundary", boundary: "Start" }));
    }
  });

  test("propagate hint on split manifest rejects non manifest end boundary", () => {
    for (const end of [bytes(), join(row(7n, 15n), bytes(0))]) {
      expect(propagate(parent, row(7n, 12n), end)).toEqual(
        refused({ kind: "InvalidManifestBoundary", boundary: "End" }),
      );
      // An end that is no row comes before a start of another manifest.
      expect(propagate(parent, row(8n, 12n), end)).toEqual(
        refused({ kind: "InvalidManifestBoundary", boundary: "End" }),
      );
    }
  });

  test("propagate hint on split manifest rejects manifest id mismatch", () => {
    expect(propagate(parent, row(8n, 12n), row(7n, 15n))).toEqual(
      refused({ kind: "ManifestIdMismatch", parent: 7n, child: 8n }),
    );
    expect(propagate(parent, row(8n, 12n), row(9n, 15n))).toEqual(
      refused({ kind: "ManifestIdMismatch", parent: 7n, child: 8n }),
    );
  });

  test("propagate hint on split manifest rejects end manifest id mismatch", () => {
    expect(propagate(parent, row(7n, 12n), row(8n, 15n))).toEqual(
      refused({ kind: "ManifestIdMismatch", parent: 7n, child: 8n }),
    );
    expect(propagate(parent, row(7n, 99n), row(6n, 15n))).toEqual(
      refused({ kind: "ManifestIdMismatch", parent: 7n, child: 6n }),
    );
  });

  test("propagate hint on split manifest rejects out of parent bounds", () => {
    for (const start of [0n, 9n, 20n, 21n]) {
      expect(propagate(parent, row(7n, start), row(7n, 15n))).toEqual(
        refused({ kind: "InvalidManifestBoundary", boundary: "Start" }),
      );
    }
  });

  test("propagate hint on split manifest rejects end row beyond parent", () => {
    for (const end of [0n, 10n, 21n]) {
      expect(propagate(parent, row(7n, 10n), row(7n, end))).toEqual(
        refused({ kind: "InvalidManifestBoundary", boundary: "End" }),
      );
    }
  });

  test("propagate hint on split manifest rejects empty child range", () => {
    expect(propagate(parent, row(7n, 15n), row(7n, 15n))).toEqual(
      refused({ kind: "EmptyManifestRange", startRow: 15n, endRow: 15n }),
    );
    expect(propagate(parent, row(7n, 16n), row(7n, 15n))).toEqual(
      refused({ kind: "EmptyManifestRange", startRow: 16n, endRow: 15n }),
    );
  });

  test("is accepted exactly when the child is a range of the parent's rows", () => {
    const near = fc.bigInt(8n, 22n);
    fc.assert(
      fc.property(near, near, (start, end) => {
        const child = propagate(parent, row(7n, start), row(7n, end));
        const isInside = start >= 10n && start < end && end <= 20n;
        expect(child).toEqual(
          isInside ? { ok: true, value: manifestHint(7n, start, end) } : expect.objectContaining({ ok: false }),
        );
      }),
      { numRuns: 500 },
    );
  });
});

test("errors with row numbers can be written as JSON", () => {
  const mismatch = propagate(manifestHint(7n, 10n, 20n), row(8n, 12n), row(7n, 15n));
  expect(JSON.stringify(mismatch)).toBe(
    '{"ok":false,"error":{"kind":"ManifestIdMismatch","parent":"0000000000000007","child":"0000000000000008"}}',
  );
});

test("wrong arguments are refused with a sentence", () => {
  const child = { childStart: bytes(1), childEnd: bytes(2) };
  for (const value of [undefined, null, 7, {}]) {
    expect(() => propagateHintOnSplit(value as never, child)).toThrow("hint must be of kind Range, Prefix or Manifest");
    expect(() => propagateHintOnSplit(ShardHint.RANGE, value as never)).toThrow(InvariantViolation);
  }
  expect(() => propagateHintOnSplit(ShardHint.RANGE, { ...child, childEnd: "b" as never })).toThrow(
    "childEnd must be a Uint8Array",
  );
});
