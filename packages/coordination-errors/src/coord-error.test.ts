// Errors are data that others keep, compare and send on. One that aliases its maker's object, carries more than its kind
// declares, or loses its fields in a clone is a surprise far from where it was made.

import { FenceEpoch, type TenantId } from "@gossip/contracts";
import { InvariantViolation, Redacted } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { coordError, runOpIdConflict } from "./coord-error.ts";
import { anyError, fieldsOf } from "./error-samples.fixture.ts";

describe("coordError", () => {
  test("has its kind and the kind's fields, in order, and nothing else of its own", () => {
    fc.assert(
      fc.property(anyError, (error) => {
        expect(Reflect.ownKeys(error)).toEqual(["kind", ...fieldsOf(error.kind)]);
      }),
    );
  });

  test("takes over only what the kind declares, and is no alias of what it was given", () => {
    const fields = { size: 5, max: 4, key: "secret", kind: "RunNotFound", toJSON: () => "secret" };
    const error = coordError("CursorKeyTooLarge", fields);
    expect(Reflect.ownKeys(error)).toEqual(["kind", "size", "max"]);
    expect(error.kind).toBe("CursorKeyTooLarge");
    fields.size = 6;
    expect(error.size).toBe(5);
  });

  test("survives a clone and a spread with kind and fields", () => {
    const error = coordError("StaleFence", { presented: FenceEpoch.fromRaw(2n), current: FenceEpoch.fromRaw(3n) });
    expect(structuredClone(error)).toStrictEqual({ kind: "StaleFence", presented: 2n, current: 3n });
    expect({ ...error }).toStrictEqual({ kind: "StaleFence", presented: 2n, current: 3n });
  });

  test("is no Error: it has no stack", () => {
    expect(coordError("RunNotFound")).not.toBeInstanceOf(Error);
    expect("stack" in coordError("RunNotFound")).toBe(false);
  });

  test("what is no tenant id is kept, and not shown", () => {
    const error = coordError("TenantMismatch", { expected: "customer seven" as TenantId });
    expect(error.message).toContain("<redacted>");
    expect(Redacted.reveal(error.expected)).toBe("customer seven");
  });

  test.each([
    ["Odd", {}],
    ["toString", {}],
    [undefined, {}],
    ["StaleFence", undefined],
    ["AlreadyLeased", null],
    ["OpIdConflict", 7],
  ])("%o with %o is refused", (kind, fields) => {
    expect(() => coordError(kind as "StaleFence", fields as never)).toThrow(InvariantViolation);
  });
});

describe("runOpIdConflict", () => {
  test("looks like the conflict on a shard, and has no hashes", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (raw) => {
        const onRun = runOpIdConflict(raw as never);
        const onShard = coordError("OpIdConflict", { opId: raw as never, expectedHash: 1n, actualHash: 2n });
        expect(JSON.stringify(onRun)).toBe(JSON.stringify(onShard));
        expect(onRun.message).toBe(onShard.message);
        expect(Redacted.reveal((onRun as typeof onShard).expectedHash)).toBe(undefined);
        expect(Redacted.reveal((onRun as typeof onShard).actualHash)).toBe(undefined);
      }),
    );
  });
});
