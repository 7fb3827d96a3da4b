// Errors travel into logs, traces and other people's dashboards. One that shows a key, a hash, a worker or another
// tenant has given it away for good, unnoticed. So secrets that can be recognized are planted in every
// field there is, and every way of printing we could think of is searched for them in every encoding.

import { inspect } from "node:util";
import { FenceEpoch, LogicalTime, OpId, TenantId, WorkerId } from "@gossip/contracts";
import { Redacted } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { coordError, runOpIdConflict, type ErrorInput } from "./coord-error.ts";
import { ERROR_INPUTS, ERROR_KINDS, fieldsOf } from "./error-samples.fixture.ts";
import type { ErrorKind } from "./error-routes.ts";
import { reviveError } from "./error-value.ts";
import { InfraError } from "./infra-error.ts";
import { bareRenderings, encodingsOf, encodingsOfU64, ownRenderings } from "./renderings.fixture.ts";

/** Large enough not to turn up in a text by chance. */
const secretU64 = fc.bigInt({ min: 1n << 56n, max: (1n << 64n) - 1n });
// With a slash, as paths have: a word of letters alone may be shown where the name of an operation belongs.
const secretKey = fc
  .array(fc.constantFrom("k", "s", "v", "x", "z", "/"), { minLength: 16, maxLength: 24 })
  .map((letters) => new TextEncoder().encode(`/${letters.join("")}`));
const secretTenant = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => TenantId.fromBytes(bytes));

function expectNone(texts: readonly string[], secrets: readonly string[]): void {
  expect(texts.filter((text) => secrets.some((secret) => text.includes(secret)))).toEqual([]);
}

/** All of a tenant but the four bytes that may be shown. */
function encodingsOfTenant(tenant: TenantId): readonly string[] {
  return [
    tenant.slice(0, 9),
    ...encodingsOf(TenantId.toBytes(tenant)),
    ...encodingsOf(TenantId.toBytes(tenant).slice(4)),
  ];
}

describe("what an error hides is in no rendering", () => {
  test("the holder of a lease", () => {
    fc.assert(
      fc.property(secretU64, (worker) => {
        const error = coordError("AlreadyLeased", {
          currentOwner: WorkerId.fromRaw(worker),
          leaseDeadline: LogicalTime.fromRaw(7n),
        });
        expectNone([...ownRenderings(error), ...bareRenderings(error)], encodingsOfU64(worker));
        expect(Redacted.reveal(error.currentOwner)).toBe(worker);
      }),
      { numRuns: 20 },
    );
  });

  test("the hashes of a conflict", () => {
    fc.assert(
      fc.property(secretU64, secretU64, (expectedHash, actualHash) => {
        const error = coordError("OpIdConflict", { opId: OpId.fromRaw(7n), expectedHash, actualHash });
        expectNone(
          [...ownRenderings(error), ...bareRenderings(error)],
          [...encodingsOfU64(expectedHash), ...encodingsOfU64(actualHash)],
        );
        expect(Redacted.reveal(error.expectedHash)).toBe(expectedHash);
        expect(Redacted.reveal(error.actualHash)).toBe(actualHash);
      }),
      { numRuns: 20 },
    );
  });

  test("a tenant, beyond its first four bytes", () => {
    fc.assert(
      fc.property(secretTenant, (tenant) => {
        const error = coordError("TenantMismatch", { expected: tenant });
        expectNone([...ownRenderings(error), ...bareRenderings(error)], encodingsOfTenant(tenant));
        expect(Redacted.reveal(error.expected)).toBe(tenant);
      }),
      { numRuns: 20 },
    );
  });

  test("what a driver threw", () => {
    fc.assert(
      fc.property(secretKey, secretTenant, (key, tenant) => {
        const text = new TextDecoder().decode(key);
        const cause = Object.assign(new Error(`duplicate key ${text} of ${tenant}`, { cause: { key } }), {
          detail: text,
          row: { key, tenant },
        });
        const reason = InfraError.transient({
          operation: "checkpoint.commit",
          message: "the write was refused",
          code: text,
          cause,
        });
        const error = coordError("BackendError", { reason });
        expectNone(
          [
            ...ownRenderings(error),
            ...bareRenderings(error),
            inspect(reason),
            JSON.stringify(reason),
            inspect({ ...reason }),
          ],
          [...encodingsOf(key), ...encodingsOfTenant(tenant)],
        );
        expect(Redacted.reveal(error.reason.cause)).toBe(cause);
      }),
      { numRuns: 20 },
    );
  });
});

describe("what does not belong into a field is in no rendering", () => {
  // Types keep these out. If a caller bypasses them, the error path is the worst place to leak.
  const disguises: readonly ((key: Uint8Array) => unknown)[] = [
    (key) => key,
    (key) => Buffer.from(key),
    (key) => [...key],
    (key) => new TextDecoder().decode(key),
    (key) => new TextDecoder().decode(key).toUpperCase(),
    (key) => Buffer.from(key).toString("hex").padEnd(64, "0").slice(0, 64),
    (key) => ({ kind: new TextDecoder().decode(key), key }),
    (key) => ({ kind: "DuplicateIds", shardId: new TextDecoder().decode(key) }),
    (key) => ({ kind: "StartMismatch", parentStart: key, firstChildStart: [...key] }),
    (key) => ({ kind: "Transient", operation: new TextDecoder().decode(key), message: key, code: { key } }),
    (key) => ({ kind: "TenantMismatch", expected: new TextDecoder().decode(key) }),
    (key) => ({ run: key, shard: new TextDecoder().decode(key) }),
    (key) => () => key,
    (key) => Symbol(new TextDecoder().decode(key)),
    (key) => ({ toJSON: () => new TextDecoder().decode(key), toString: () => new TextDecoder().decode(key) }),
    (key) => new Error(new TextDecoder().decode(key)),
  ];

  test.each(ERROR_KINDS.filter((kind) => fieldsOf(kind).length > 0))("%s", (kind) => {
    const planted = fc.tuple(
      ERROR_INPUTS[kind] as fc.Arbitrary<ErrorInput<ErrorKind>>,
      fc.constantFrom(...fieldsOf(kind)),
      secretKey,
      fc.constantFrom(...disguises),
    );
    fc.assert(
      fc.property(planted, ([fields, field, key, disguise]) => {
        const error = reviveError({ ...coordError(kind, fields), [field]: disguise(key) });
        const upper = new TextDecoder().decode(key).toUpperCase();
        expectNone(ownRenderings(error), [...encodingsOf(key), upper]);
      }),
      { numRuns: 25 },
    );
  });

  test("fields that the kind does not have are not taken over at all", () => {
    fc.assert(
      fc.property(secretKey, (key) => {
        const wider = { size: 5, max: 4, key, text: new TextDecoder().decode(key) };
        const error = coordError("CursorKeyTooLarge", wider);
        expectNone([...ownRenderings(error), ...bareRenderings(error)], encodingsOf(key));
      }),
      { numRuns: 10 },
    );
  });
});

describe("the table of the design document, row by row", () => {
  const opId = OpId.fromRaw(0xabcn);

  test("OpIdConflict: hashes redacted for debugging, left out of the message; the op id is shown", () => {
    for (const error of [
      coordError("OpIdConflict", { opId, expectedHash: 1n << 60n, actualHash: 1n << 61n }),
      runOpIdConflict(opId),
    ]) {
      expect(inspect(error)).toBe(
        "OpIdConflict (opId 0000000000000abc, expectedHash <redacted>, actualHash <redacted>)",
      );
      expect(error.message).toContain("0000000000000abc");
      expect(error.message).not.toContain("redacted");
    }
  });

  test("AlreadyLeased: owner redacted in both; the deadline is shown", () => {
    const error = coordError("AlreadyLeased", {
      currentOwner: WorkerId.fromRaw(5n),
      leaseDeadline: LogicalTime.fromRaw(120n),
    });
    expect(inspect(error)).toBe("AlreadyLeased (currentOwner <redacted>, leaseDeadline 120)");
    expect(error.message).toBe("the shard is leased to <redacted> until 120");
  });

  test("CursorRegression: keys as sizes", () => {
    expect(inspect(coordError("CursorRegression", { oldKey: 12, newKey: undefined }))).toBe(
      "CursorRegression (oldKey [12 bytes], newKey none)",
    );
    expect(coordError("CursorRegression", { oldKey: 12, newKey: 3 }).message).toMatch(/\[12 bytes\].*\[3 bytes\]/);
  });

  test("CursorOutOfBounds: keys as sizes", () => {
    const error = coordError("CursorOutOfBounds", { lastKey: 9, specStart: 1, specEnd: 0 });
    expect(inspect(error)).toBe("CursorOutOfBounds (lastKey [9 bytes], specStart [1 bytes], specEnd [0 bytes])");
    expect(error.message).toContain("[9 bytes]");
  });

  test("TenantMismatch: the caller's own tenant, abbreviated, and no other", () => {
    const error = coordError("TenantMismatch", { expected: TenantId.fromBytes(new Uint8Array(32).fill(0xab)) });
    expect(Object.keys(error)).toEqual(["kind", "expected"]);
    expect(inspect(error)).toBe("TenantMismatch (expected abababab..)");
    expect(error.message).toContain("abababab..");
    expect(inspect({ ...error })).toBe("{ kind: 'TenantMismatch', expected: abababab.. }");
  });

  test("split, spec and manifest errors: sizes, indexes and shard ids", () => {
    const gap = { kind: "BoundaryMismatch", childIndex: 0, nextChildIndex: 2, childEnd: 3, nextChildStart: 4 } as const;
    expect(coordError("SplitInvalid", { reason: gap }).message).toBe(
      "the split was refused: BoundaryMismatch (childIndex 0, nextChildIndex 2, childEnd [3 bytes], nextChildStart [4 bytes])",
    );
  });
});

test("a clone keeps what is data and can still be explained", () => {
  const error = coordError("StaleFence", { presented: FenceEpoch.fromRaw(2n), current: FenceEpoch.fromRaw(3n) });
  expect(structuredClone(error)).toEqual({ kind: "StaleFence", presented: 2n, current: 3n });
});
