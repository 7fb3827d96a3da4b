// The driver reads a value's bytes in another thread, after it was told where they are. A view that is kept too long stores one shard's
// progress as another's, or a record that is cut off.

import { RunId, ShardId, ShardSpec, TenantId } from "@gossip/contracts";
import type { ShardRecord, UpdateShardSet } from "@gossip/coordination";
import { encodeShardRecord } from "@gossip/coordination-codec";
import { equalBytes, InvariantViolation } from "@gossip/stdx";
import { makeShard } from "@gossip/tools/store-model";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ValueSpace } from "./value-space.ts";

const tenant = TenantId.ZERO;
const run = RunId.fromRaw(1n);

function withMetadata(shard: number, size: number): ShardRecord {
  const record = makeShard(tenant, run, ShardId.fromRaw(BigInt(shard)), "a");
  const { keyRangeStart: start, keyRangeEnd: end } = record.spec;
  return { ...record, spec: ShardSpec.withRangeAndMetadata({ start, end, metadata: new Uint8Array(size) }) };
}

function updateOf(after: ShardRecord): UpdateShardSet {
  return {
    kind: "UpdateShard",
    tenant,
    run,
    shard: { guard: 1, before: after, after },
    runGuard: undefined,
    hintAt: undefined,
  };
}

// Sizes that are often the same, and some for which the memory must grow, up to where it is not kept.
const size = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(0, 1, 40) }, fc.constantFrom(4000, 16_000));
const commits = fc.array(fc.array(size, { minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 8 });

test("each value is its record, whatever was encoded in the same space before", () => {
  fc.assert(
    fc.property(commits, (all) => {
      const space = new ValueSpace();
      for (const [commit, sizes] of all.entries()) {
        // Of the same size in every commit, and yet other bytes.
        const records = sizes.map((metadataSize, shard) => ({
          ...withMetadata(shard, metadataSize),
          attempts: commit,
        }));
        const values = space.encode(records.map(updateOf));
        records.forEach((record, index) => expect(equalBytes(values[index]!, encodeShardRecord(record))).toBe(true));
      }
    }),
    { numRuns: 60 },
  );
});

test("where the sizes are as before, so are the views", () => {
  const space = new ValueSpace();
  const first = [...space.encode([0, 1, 2].map((shard) => updateOf(withMetadata(shard, 7))))];
  const second = space.encode([5, 6, 7].map((shard) => updateOf(withMetadata(shard, 7))));
  first.forEach((view, index) => expect(second[index]).toBe(view));
});

test("a record that is refused leaves the space as good as it was", () => {
  const space = new ValueSpace();
  const good = withMetadata(1, 3);
  expect(() => space.encode([updateOf(good), updateOf({ ...good, attempts: -1 })])).toThrow(InvariantViolation);
  const values = space.encode([updateOf(withMetadata(2, 900)), updateOf(good)]);
  expect(equalBytes(values[1]!, encodeShardRecord(good))).toBe(true);
});
