// Plans and manifests cross process borders as JSON. What is lost on the way is lost silently; what is let in without a
// check is a request that someone wrote by hand. Errors end in logs, and a logger that meets a bigint throws.
import { InvariantViolation, unwrap } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { ascii, denseKey, filled, u64 } from "../arbitraries.fixture.ts";
import { Cursor, type CursorInputError } from "../cursors/cursor.ts";
import type { IdTextError } from "../ids/u64.ts";
import type { JsonCodec } from "./json-codec.ts";
import { toJsonSafe } from "./json-safe.ts";
import { InitialShardInput, type ManifestValidationError } from "../manifest/manifest.ts";
import type { SplitReplacePlanningError } from "../splits/plan-split-replace.ts";
import type { SplitResidualPlanningError } from "../splits/plan-split-residual.ts";
import { RunId } from "../ids/run-id.ts";
import { ShardId } from "../ids/shard-id.ts";
import { ShardKey } from "../ids/shard-key.ts";
import type { ShardSpecInputError } from "../specs/shard-spec-ref.ts";
import { ShardSpec } from "../specs/shard-spec.ts";
import { child, range } from "../specs.fixture.ts";
import { SplitReplacePlan, type SplitReplacePlanError } from "../splits/split-replace-plan.ts";
import { SplitResidualPlan, type SplitResidualPlanError } from "../splits/split-residual-plan.ts";
import type { SplitValidationError } from "../splits/validate-split.ts";
import type { TenantIdSizeError } from "../ids/tenant-id.ts";
import type { U64InputError } from "../ids/u64-companion.ts";
import fc from "fast-check";

const bytes = fc.oneof(denseKey({ min: 0, max: 3 }), fc.uint8Array({ maxLength: 12 }));
const cursor = fc
  .tuple(bytes, bytes)
  .map(([lastKey, token]) => (lastKey.length === 0 ? Cursor.initial() : Cursor.fromParts({ lastKey, token })));
const spec = fc.record({ keyRangeStart: bytes, keyRangeEnd: bytes, metadata: bytes });
const splitChild = fc.record({ spec, cursor });
const shard = u64.map((raw) => ShardId.fromRaw(raw));

/** Through text and back, as over a wire. */
function roundTrip<T>(codec: { toJson(value: T): unknown; fromJson(json: unknown): unknown }, value: T): unknown {
  return codec.fromJson(JSON.parse(JSON.stringify(codec.toJson(value))));
}

describe("data", () => {
  const DATA = [
    { name: "Cursor", codec: Cursor as JsonCodec<unknown, unknown>, value: cursor },
    {
      name: "ShardKey",
      codec: ShardKey as JsonCodec<unknown, unknown>,
      value: fc.tuple(u64, shard).map(([run, id]) => ShardKey.of(RunId.fromRaw(run), id)),
    },
    {
      name: "InitialShardInput",
      codec: InitialShardInput as JsonCodec<unknown, unknown>,
      value: fc.record({ shard, spec, cursor }),
    },
    {
      name: "SplitReplacePlan",
      codec: SplitReplacePlan as JsonCodec<unknown, unknown>,
      value: fc
        .array(splitChild, { minLength: 2, maxLength: 4 })
        .map((children) => unwrap(SplitReplacePlan.tryNew(children))),
    },
    {
      name: "SplitResidualPlan",
      codec: SplitResidualPlan as JsonCodec<unknown, unknown>,
      value: fc
        .record({ parentNewSpec: spec, residualSpec: spec })
        .filter(({ parentNewSpec, residualSpec }) => !ShardSpec.equals(parentNewSpec, residualSpec)),
    },
  ];

  test.each(DATA)("$name comes back as it was", ({ codec, value }) => {
    fc.assert(
      fc.property(value as fc.Arbitrary<unknown>, (one) => {
        expect(roundTrip(codec, one)).toEqual({ ok: true, value: one });
      }),
    );
  });

  test("ShardSpec comes back as it was, if it is one", () => {
    fc.assert(
      fc.property(spec, (ref) => {
        expect(roundTrip(ShardSpec as JsonCodec<typeof ref, unknown>, ref)).toEqual(ShardSpec.tryFromRef(ref));
      }),
    );
  });

  test("has the documented form", () => {
    expect(Cursor.toJson(Cursor.initial())).toEqual({});
    expect(Cursor.toJson(Cursor.fromParts({ lastKey: Uint8Array.of(0xfb, 0xff), token: ascii("t") }))).toEqual({
      lastKey: "-_8",
      token: "dA",
    });
    expect(ShardSpec.toJson(range("a", "", "mm"))).toEqual({ keyRangeStart: "YQ", keyRangeEnd: "", metadata: "bW0" });
    expect(ShardKey.toJson(ShardKey.of(RunId.fromRaw(1n), ShardId.fromRaw(255n)))).toEqual({
      run: "0000000000000001",
      shard: "00000000000000ff",
    });
  });

  test.each(DATA)("$name is not written where it is none", ({ codec }) => {
    for (const bad of [undefined, null, 7, "text"]) expect(() => codec.toJson(bad)).toThrow(InvariantViolation);
  });

  test.each(DATA)("$name is not read from any other JSON", ({ codec }) => {
    for (const bad of [undefined, null, 7, "text", [], true]) {
      expect(codec.fromJson(bad)).toEqual({
        ok: false,
        error: { kind: "InvalidField", field: "", expected: "an object" },
      });
    }
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        const read = codec.fromJson(json);
        if (!read.ok) expect(read.error.kind).toBe("InvalidField");
      }),
    );
  });
});

describe("what is wrong with the JSON is named by its place", () => {
  const wrong = (field: string, expected: string) => ({ ok: false, error: { kind: "InvalidField", field, expected } });
  const text = "base64url text without padding";
  const part = { spec: ShardSpec.toJson(range("a", "m")), cursor: {} };

  test.each([
    { read: Cursor.fromJson({ lastKey: "a b" }), error: wrong("lastKey", text) },
    { read: Cursor.fromJson({ lastKey: "" }), error: wrong("lastKey", "a key that is not empty") },
    { read: Cursor.fromJson({ token: "dA" }), error: wrong("token", "no token without a last key") },
    { read: ShardSpec.fromJson({ keyRangeStart: "", keyRangeEnd: "" }), error: wrong("metadata", text) },
    { read: ShardKey.fromJson({ run: "1", shard: "2" }), error: wrong("run", "16 lowercase hex digits") },
    {
      read: ShardKey.fromJson(Object.create({ run: "0000000000000001" })),
      error: wrong("run", "16 lowercase hex digits"),
    },
    {
      read: InitialShardInput.fromJson({ shard: "0000000000000001", ...part, cursor: 7 }),
      error: wrong("cursor", "an object"),
    },
    { read: SplitReplacePlan.fromJson({ children: {} }), error: wrong("children", "a list") },
    { read: SplitReplacePlan.fromJson({ children: [part] }), error: wrong("children", "2 to 256 children") },
    {
      read: SplitReplacePlan.fromJson({ children: [part, { ...part, spec: { ...part.spec, metadata: 1 } }] }),
      error: wrong("children.1.spec.metadata", text),
    },
    {
      read: SplitReplacePlan.fromJson({ children: [part, { ...part, cursor: { token: "dA" } }] }),
      error: wrong("children.1.cursor.token", "no token without a last key"),
    },
    {
      read: SplitResidualPlan.fromJson({ parentNewSpec: part.spec, residualSpec: part.spec }),
      error: wrong("residualSpec", "a spec other than parentNewSpec"),
    },
  ])("$error.error.field: $error.error.expected", ({ read, error }) => {
    expect(read).toEqual(error);
  });

  test("a spec that breaks a rule is refused by that rule", () => {
    expect(ShardSpec.fromJson(ShardSpec.toJson(range("b", "a")))).toEqual({
      ok: false,
      error: { kind: "InvertedRange", startLen: 1, endLen: 1 },
    });
  });

  test("a field from later versions is ignored", () => {
    expect(Cursor.fromJson({ lastKey: "YQ", later: 1 })).toEqual({ ok: true, value: Cursor.withLastKey(ascii("a")) });
  });
});

describe("errors", () => {
  const id = ShardId.fromRaw((1n << 63n) + 5n);
  const sizes = { size: 4097, max: 4096 };
  const splitErrors: SplitValidationError[] = [
    { kind: "NoChildren" },
    { kind: "SingleChild" },
    { kind: "StartMismatch", parentStart: 1, firstChildStart: 2 },
    { kind: "EndMismatch", parentEnd: 1, lastChildEnd: 2 },
    { kind: "BoundaryMismatch", childIndex: 0, nextChildIndex: 1, childEnd: 2, nextChildStart: 3 },
    { kind: "InvertedChild", childIndex: 4 },
    { kind: "OverlappingChild", childIndex: 0, nextChildIndex: 1 },
    { kind: "ParentCursorOutOfBounds", cursor: 1, newParentStart: 2, newParentEnd: 0 },
    { kind: "SpawnLimitExceeded", current: 1000, additional: 256, max: 1024 },
    { kind: "BackendChildLimitExceeded", requested: 256, backendMax: 62 },
    { kind: "ShardLimitExceeded", current: 1, additional: 2, max: 2, scope: "PerTenant" },
    { kind: "ShardLimitExceeded", current: 1, additional: 2, max: 2, scope: "Global" },
    { kind: "DerivedIdCollision", derivedId: id },
    { kind: "InvalidChildSpec", childIndex: 0 },
    { kind: "InvalidChildCursor", childIndex: 1 },
  ];
  const specErrors: ShardSpecInputError[] = [
    { kind: "KeyTooLarge", ...sizes },
    { kind: "MetadataTooLarge", ...sizes },
    { kind: "InvertedRange", startLen: 2, endLen: 1 },
  ];
  const reason: SplitValidationError = { kind: "DerivedIdCollision", derivedId: id };
  const ERRORS: readonly {
    name: string;
    errors: readonly ({ kind: string } & Record<string, unknown>)[];
    kindCount: number;
  }[] = [
    {
      name: "SplitValidationError",
      errors: splitErrors,
      kindCount: 14,
    },
    {
      name: "ShardSpecInputError",
      errors: specErrors,
      kindCount: 3,
    },
    {
      name: "IdTextError",
      errors: [
        { kind: "NotAString", given: "number" },
        { kind: "WrongTextLength", length: 3, expected: 16 },
        { kind: "NotLowercaseHex" },
      ] satisfies IdTextError[],
      kindCount: 3,
    },
    {
      name: "U64InputError",
      errors: [
        { kind: "NotABigint", given: "number" },
        { kind: "NegativeInteger" },
        { kind: "IntegerTooLarge" },
      ] satisfies U64InputError[],
      kindCount: 3,
    },
    {
      name: "TenantIdSizeError",
      errors: [{ kind: "WrongSize", size: 31, expected: 32 }] satisfies TenantIdSizeError[],
      kindCount: 1,
    },
    {
      name: "SplitReplacePlanError",
      errors: [
        { kind: "TooFewChildren", count: 1 },
        { kind: "TooManyChildren", count: 257 },
      ] satisfies SplitReplacePlanError[],
      kindCount: 2,
    },
    {
      name: "SplitResidualPlanError",
      errors: [{ kind: "IdenticalSpecs" }] satisfies (SplitResidualPlanError & Record<string, unknown>)[],
      kindCount: 1,
    },
    {
      name: "CursorInputError",
      errors: [
        { kind: "EmptyLastKey" },
        { kind: "KeyTooLarge", ...sizes },
        { kind: "TokenTooLarge", ...sizes },
      ] satisfies CursorInputError[],
      kindCount: 3,
    },
    {
      name: "ManifestValidationError",
      errors: [
        { kind: "TooManyShards", count: 10_001, max: 10_000 },
        { kind: "Empty" },
        { kind: "DuplicateIds", shardId: id },
        { kind: "DerivedIdInManifest", shardId: id },
        { kind: "UnboundedRange", shardId: id },
        ...specErrors.map((one) => ({ kind: "InvalidSpec" as const, shardId: id, reason: one })),
        { kind: "OverlappingRanges", shardA: id, shardB: ShardId.fromRaw(0n) },
        { kind: "CursorKeyTooLarge", shardId: id, ...sizes },
        { kind: "CursorTokenTooLarge", shardId: id, ...sizes },
        { kind: "CursorOutOfBounds", shardId: id },
      ] satisfies ManifestValidationError[],
      kindCount: 10,
    },
    {
      name: "SplitReplacePlanningError",
      errors: [
        { kind: "InvalidChildCount", reason: { kind: "TooFewChildren", count: 1 } },
        { kind: "InvalidChildCount", reason: { kind: "TooManyChildren", count: 257 } },
        { kind: "InvalidCoverage", reason },
        { kind: "SplitPointBehindCursor", pointIndex: 3 },
      ] satisfies SplitReplacePlanningError[],
      kindCount: 3,
    },
    {
      name: "SplitResidualPlanningError",
      errors: [
        { kind: "MissingCursor" },
        { kind: "NoSuccessor" },
        { kind: "SplitPointOutOfBounds", splitPoint: 1, parentStart: 2, parentEnd: 0 },
        { kind: "InvalidPlan", reason: { kind: "IdenticalSpecs" } },
        { kind: "InvalidCoverage", reason },
        { kind: "SplitPointBehindCursor", pointIndex: 0 },
      ] satisfies SplitResidualPlanningError[],
      kindCount: 6,
    },
  ];

  test.each(ERRORS)("$name: every kind has a form in JSON", ({ errors, kindCount }) => {
    expect(new Set(errors.map(({ kind }) => kind)).size).toBe(kindCount);
    for (const error of errors) {
      const json = JSON.parse(JSON.stringify(toJsonSafe(error))) as Record<string, unknown>;
      expect(Object.keys(json)).toEqual(Object.keys(error));
      expect(json).toMatchObject(
        Object.fromEntries(
          Object.entries(error).filter(([, value]) => typeof value !== "bigint" && typeof value !== "object"),
        ),
      );
    }
  });
});

describe("redaction", () => {
  test("a refusal of JSON does not repeat it", () => {
    const secret = "secret-key";
    const refusals = [
      Cursor.fromJson({ lastKey: `${secret} !` }),
      Cursor.fromJson(secret),
      ShardKey.fromJson({ run: secret }),
      SplitReplacePlan.fromJson({ children: [{ spec: secret }] }),
    ];
    for (const refusal of refusals) expect(JSON.stringify(refusal)).not.toContain(secret);
  });

  test("a plan of the largest size can be written", () => {
    const children = [{ ...child("a", "m"), spec: { ...range("a", "m"), metadata: filled(16_384) } }, child("m", "z")];
    const plan = unwrap(SplitReplacePlan.tryNew(children));
    expect(roundTrip(SplitReplacePlan, plan)).toEqual({ ok: true, value: plan });
  });
});
