// A plan that the coordinator refuses splits nothing, and a shard of manifest rows whose hint still names all of them is read twice.

import { Cursor, ShardSpec } from "@gossip/contracts";
import { decodeHint, encodeKey, ManifestId, ManifestRow, ManifestRowKey, manifestShard } from "@gossip/frontier";
import { unwrap } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { planSplit } from "./plan-split.ts";

const text = (key: string): Uint8Array => new TextEncoder().encode(key);
const range = ShardSpec.withRange({ start: text("b"), end: text("y") });

describe("planSplit", () => {
  test("cuts a range at the point", () => {
    const plan = planSplit(range, Cursor.withLastKey(text("c")), text("m"));
    expect(plan).toMatchObject({
      parentNewSpec: { keyRangeStart: text("b"), keyRangeEnd: text("m") },
      residualSpec: { keyRangeStart: text("m"), keyRangeEnd: text("y") },
    });
  });

  test.each(["a", "b", "y", "z", "c"])("does not cut at %s, outside the range or behind the cursor", (point) => {
    expect(planSplit(range, Cursor.withLastKey(text("c")), text(point))).toBeUndefined();
  });

  test("cuts a manifest at a row, and each part names its own rows", () => {
    const manifestId = ManifestId.fromRaw(7n);
    const row = (n: bigint): Uint8Array => encodeKey(new ManifestRowKey({ manifestId, row: ManifestRow.fromRaw(n) }));
    const spec = unwrap(
      manifestShard({
        manifestId,
        startRow: ManifestRow.fromRaw(0n),
        endRow: ManifestRow.fromRaw(100n),
        connectorExtra: new Uint8Array(),
      }),
    );
    const between = Uint8Array.of(...row(40n), 1);
    const plan = planSplit(spec, Cursor.initial(), between)!;
    expect(plan.residualSpec.keyRangeStart).toEqual(row(41n));
    expect(unwrap(decodeHint(plan.parentNewSpec))).toMatchObject({ startRow: 0n, endRow: 41n });
    expect(unwrap(decodeHint(plan.residualSpec))).toMatchObject({ startRow: 41n, endRow: 100n });
  });

  test("does not cut what it cannot read the hint of", () => {
    const spec = ShardSpec.withRangeAndMetadata({
      start: text("b"),
      end: text("y"),
      metadata: Uint8Array.of(0, 0, 0, 9, 1),
    });
    expect(planSplit(spec, Cursor.initial(), text("m"))).toBeUndefined();
  });
});
