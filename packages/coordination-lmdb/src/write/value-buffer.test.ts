// The driver reads the bytes of a value in another thread, from their address. A view that is kept too long
// stores the progress of one shard as that of another, or a record that is cut off.

import { RunId, ShardId, ShardSpec, TenantId } from "@gossip/contracts";
import type { ShardRecord, UpdateShardSet } from "@gossip/coordination";
import { encodeShardRecord } from "@gossip/coordination-codec";
import { ShardEncoder } from "@gossip/coordination-codec/internal";
import { equalBytes, InvariantViolation } from "@gossip/stdx";
import { makeShard } from "@gossip/tools/store-model";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ValueBuffer } from "./value-buffer.ts";

const tenant = TenantId.ZERO;
const run = RunId.fromRaw(1n);
const encoder = new ShardEncoder();

function withMetadata(shard: number, size: number): ShardRecord {
  const record = makeShard(tenant, run, ShardId.fromRaw(BigInt(shard)), "a");
  const { keyRangeStart: start, keyRangeEnd: end } = record.spec;
  return { ...record, spec: ShardSpec.withRangeAndMetadata({ start, end, metadata: new Uint8Array(size) }) };
}

function updatesTo(records: readonly ShardRecord[]): UpdateShardSet[] {
  return records.map((after) => ({
    kind: "UpdateShard",
    tenant,
    run,
    shard: { guard: 1, before: after, after },
    runGuard: undefined,
    hintAt: undefined,
  }));
}

// Sizes that often repeat, and some for which the memory must grow, up to the size at which it is not kept.
const size = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(0, 1, 40) }, fc.constantFrom(4000, 16_000));
const commits = fc.array(fc.array(size, { minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 8 });

test("each value is its record, whatever the buffer held before", () => {
  fc.assert(
    fc.property(commits, (all) => {
      const buffer = new ValueBuffer();
      for (const [commit, sizes] of all.entries()) {
        // The same sizes in every commit, with other bytes.
        const records = sizes.map((metadataSize, shard) => ({
          ...withMetadata(shard, metadataSize),
          attempts: commit,
        }));
        const values = buffer.encode(updatesTo(records), encoder);
        records.forEach((record, index) => expect(equalBytes(values[index]!, encodeShardRecord(record))).toBe(true));
      }
    }),
    { numRuns: 60 },
  );
});

test("views are reused while the sizes stay the same", () => {
  const buffer = new ValueBuffer();
  const first = [...buffer.encode(updatesTo([0, 1, 2].map((shard) => withMetadata(shard, 7))), encoder)];
  const second = buffer.encode(updatesTo([5, 6, 7].map((shard) => withMetadata(shard, 7))), encoder);
  first.forEach((view, index) => expect(second[index]).toBe(view));
});

test("a record that is refused does not spoil the buffer", () => {
  const buffer = new ValueBuffer();
  const good = withMetadata(1, 3);
  expect(() => buffer.encode(updatesTo([good, { ...good, attempts: -1 }]), encoder)).toThrow(InvariantViolation);
  const values = buffer.encode(updatesTo([withMetadata(2, 900), good]), encoder);
  expect(equalBytes(values[1]!, encodeShardRecord(good))).toBe(true);
});
