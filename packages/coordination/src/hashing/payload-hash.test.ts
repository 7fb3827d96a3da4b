// Payload hashes are stored. A change of one bit in how they are made turns every retry in flight into a
// conflict, so each is pinned by a published value; and two operations that could share a hash would let
// a retry of one be answered with the result of the other.

import {
  Cursor,
  OpId,
  ParkReason,
  RunId,
  ShardId,
  ShardKey,
  ShardSpec,
  SplitReplacePlan,
  SplitResidualPlan,
} from "@gossip/contracts";
import { CanonicalWriter, deriveKeyHasher, DOMAINS, encodeCursorInto } from "@gossip/contracts/internal";
import { unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deriveSplitShardId } from "./derive-split-shard-id.ts";
import {
  checkpointHash,
  completeHash,
  parkHash,
  RANGE_EXHAUSTED,
  registerShardsHash,
  releaseHash,
  runTransitionHash,
  splitReplaceHash,
  splitResidualHash,
  unparkHash,
} from "./payload-hash.ts";

const text = (value: string) => new TextEncoder().encode(value);
const range = (start: string, end: string) => ShardSpec.withRange({ start: text(start), end: text(end) });
const at = (key: string) => Cursor.withLastKey(text(key));
const child = (start: string, end: string) => ({ spec: range(start, end), cursor: Cursor.initial() });
const replace = (...children: ReturnType<typeof child>[]) => unwrap(SplitReplacePlan.tryNew(children));
const residual = (low: [string, string], high: [string, string]) =>
  unwrap(SplitResidualPlan.tryNew({ parentNewSpec: range(...low), residualSpec: range(...high) }));
const shards = [
  { shard: ShardId.fromRaw(10n), spec: range("a", "m"), cursor: Cursor.initial() },
  { shard: ShardId.fromRaw(11n), spec: range("m", "z"), cursor: Cursor.initial() },
];

describe("payload hashes", () => {
  test.each([
    ["checkpoint golden-cursor-key", () => checkpointHash(at("golden-cursor-key")), 0x0806b9d383fd8430n],
    ["complete golden-cursor-key", () => completeHash(at("golden-cursor-key")), 0x9a83e072185abf89n],
    ["park 0", () => parkHash("PermissionDenied"), 0xf89f1ca250f539e7n],
    ["park 1", () => parkHash("NotFound"), 0x80d61e1516ed67f2n],
    ["park 2", () => parkHash("Poisoned"), 0xf0e5baaa11b56d8dn],
    ["park 3", () => parkHash("TooManyErrors"), 0x2eb5b6c9c7097682n],
    ["park 4", () => parkHash("Other"), 0x144a0bc2dc9e976dn],
    ["split replace", () => splitReplaceHash(replace(child("a", "m"), child("m", "z"))), 0xa592eea6db2fcb49n],
    ["split residual", () => splitResidualHash(residual(["a", "m"], ["m", "z"])), 0x4be2bdea63447e13n],
    ["register", () => registerShardsHash(shards), 0x2c1d0373e35ad480n],
    ["complete run", () => runTransitionHash("completeRun"), 0x4504ddc401c529bcn],
    ["fail run", () => runTransitionHash("failRun"), 0x3b55b6096e5f285dn],
    ["cancel run", () => runTransitionHash("cancelRun"), 0x1e938cd0f181e424n],
    ["unpark", () => unparkHash(ShardKey.of(RunId.fromRaw(1n), ShardId.fromRaw(10n))), 0xa59a8785806704afn],
    [
      "checkpoint k t",
      () => checkpointHash(Cursor.fromParts({ lastKey: text("k"), token: text("t") })),
      0x78551a45d737eb5an,
    ],
    ["timeline: checkpoint c", () => checkpointHash(at("c")), 0x4ceb0b8f2c7c9c99n],
    [
      "split trace: replace at g",
      () => splitReplaceHash(replace(child("a", "g"), child("g", "m"))),
      0x3851b7b1181772den,
    ],
  ])("%s", (_name, hash, expected) => {
    expect(hash()).toBe(expected);
  });

  test("the order in which children or shards are listed does not matter", () => {
    expect(splitReplaceHash(replace(child("m", "z"), child("a", "m")))).toBe(0xa592eea6db2fcb49n);
    expect(registerShardsHash(shards.toReversed())).toBe(0x2c1d0373e35ad480n);
  });

  test("no two operations share a hash for the same fields", () => {
    const cursor = at("k");
    const all = [
      checkpointHash(cursor),
      completeHash(cursor),
      completeHash(RANGE_EXHAUSTED),
      releaseHash(),
      ...ParkReason.values.map(parkHash),
      runTransitionHash("completeRun"),
      runTransitionHash("failRun"),
      runTransitionHash("cancelRun"),
    ];
    expect(new Set(all).size).toBe(all.length);
  });

  test("a cursor hashes as its canonical bytes do, whatever its size", () => {
    const library = deriveKeyHasher(DOMAINS.OP_PAYLOAD_V1);
    const size = fc.oneof(fc.integer({ min: 1, max: 80 }), fc.integer({ min: 950, max: 1100 }));
    fc.assert(
      fc.property(
        size,
        fc.option(fc.integer({ min: 0, max: 1100 }), { nil: undefined }),
        fc.nat(255),
        (keySize, tokenSize, byte) => {
          const lastKey = new Uint8Array(keySize).fill(byte);
          const cursor = Cursor.fromParts({
            lastKey,
            token: tokenSize === undefined ? undefined : new Uint8Array(tokenSize).fill(byte ^ 0x55),
          });
          for (const [tag, hash] of [
            ["checkpoint", checkpointHash],
            ["complete", completeHash],
          ] as const) {
            const out = new CanonicalWriter();
            out.fixedBytes(text(tag));
            encodeCursorInto(cursor, out);
            expect(hash(cursor)).toBe(library.hash64(out.view()));
          }
        },
      ),
    );
  });

  test("two cursors share a hash exactly when they are equal", () => {
    const part = fc
      .array(fc.constantFrom(0, 1, 2, 0xff), { minLength: 1, maxLength: 4 })
      .map((bytes) => Uint8Array.from(bytes));
    const cursor = fc
      .record({ lastKey: part, token: fc.option(part, { nil: undefined }) })
      .map((parts) => Cursor.fromParts(parts));
    fc.assert(
      fc.property(cursor, cursor, (a, b) => {
        expect(checkpointHash(a) === checkpointHash(b)).toBe(Cursor.equals(a, b));
      }),
      { numRuns: 500 },
    );
  });
});

describe("deriveSplitShardId", () => {
  const derive = (fields: { run?: bigint; parent?: bigint; op?: bigint; kind?: "Child" | "Residual"; index: number }) =>
    deriveSplitShardId({
      run: RunId.fromRaw(fields.run ?? 1n),
      parent: ShardId.fromRaw(fields.parent ?? 100n),
      opId: OpId.fromRaw(fields.op ?? 999n),
      kind: fields.kind ?? "Child",
      index: fields.index,
    });

  test.each([
    [{ index: 0 }, 0xada8c6fca3894936n],
    [{ index: 1 }, 0xac88444c76bdfa28n],
    [{ index: 2 }, 0xd4688bee5d30fcbfn],
    [{ kind: "Residual", index: 0 }, 0xfea10675fdf78c46n],
    [{ kind: "Residual", index: 1 }, 0x918b665f51f8b5c3n],
    [{ parent: 10n, op: 77n, kind: "Residual", index: 0 }, 0xa279b1750d20f91an],
    [{ parent: 10n, op: 78n, index: 1 }, 0xecd9101282446c4fn],
    [{ parent: 10n, op: 78n, index: 2 }, 0xb7a8141691e7e8b5n],
  ] as const)("%o", (fields, expected) => {
    expect(derive(fields)).toBe(expected);
  });

  test("every field changes the id, and every id is marked as derived", () => {
    const ids = [
      derive({ index: 0 }),
      derive({ run: 2n, index: 0 }),
      derive({ parent: 101n, index: 0 }),
      derive({ op: 1000n, index: 0 }),
      derive({ kind: "Residual", index: 0 }),
      derive({ index: 1 }),
    ];
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => ShardId.isDerived(id))).toBe(true);
  });
});
