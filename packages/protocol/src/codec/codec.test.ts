// What is lost between a record and its JSON is lost for every client, in every language, and silently.
import {
  Cursor,
  FenceEpoch,
  LogicalTime,
  OpId,
  RunId,
  ShardId,
  ShardSpec,
  TenantId,
  WorkerId,
} from "@gossip/contracts";
import { Lease, newRunRecord, newShardRecord, type RunRecord, type ShardRecord } from "@gossip/coordination";
import { unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readPosition, writePosition } from "./shard-position.ts";
import { readCapacity, readProgress, readRun, readShard, readSummary } from "./read-records.ts";
import { WireReader } from "./wire-reader.ts";
import {
  writeCapacity,
  writeCursor,
  writeLease,
  writeProgress,
  writeRange,
  writeRun,
  writeShard,
  writeSummary,
} from "./write-records.ts";

const overWire = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
/** Plain text, text beyond ASCII, and bytes that are no text. */
const bytes = (min = 0) =>
  fc.oneof(
    fc.string({ minLength: min, maxLength: 100 }).map((text) => new TextEncoder().encode(text)),
    fc.string({ unit: "grapheme", minLength: min, maxLength: 30 }).map((text) => new TextEncoder().encode(text)),
    fc.uint8Array({ minLength: min, maxLength: 80 }),
  );
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const time = fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }).map((raw) => LogicalTime.fromRaw(raw));
const tenant = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((raw) => TenantId.fromBytes(raw));
const shardId = u64.map((raw) => ShardId.fromRaw(raw));
const cursor = fc.oneof(
  fc.constant(Cursor.initial()),
  fc
    .tuple(bytes(1), fc.option(bytes(1), { nil: undefined }))
    .map(([lastKey, token]) => Cursor.fromParts({ lastKey, token })),
);
const spec = fc
  .tuple(bytes(), bytes(), bytes())
  .map(([start, end, metadata]) => ShardSpec.tryWithRangeAndMetadata({ start, end, metadata }))
  .filter((made) => made.ok)
  .map((made) => unwrap(made));

test("leases, cursors and ranges come back as they were", () => {
  const fields = {
    tenant,
    run: u64.map((raw) => RunId.fromRaw(raw)),
    shard: shardId,
    owner: u64.map((raw) => WorkerId.fromRaw(raw)),
  };
  const fence = fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }).map((raw) => FenceEpoch.fromRaw(raw));
  fc.assert(
    fc.property(fc.record({ ...fields, fence, deadline: time }), cursor, spec, (parts, one, range) => {
      const read = new WireReader();
      const lease = Lease.of(parts);
      const got = {
        lease: read.lease(overWire(writeLease(lease))),
        cursor: read.cursor(overWire(writeCursor(one)), "cursor"),
        range: read.range(overWire(writeRange(range)), "range"),
      };
      expect(read.done(got)).toEqual({ ok: true, value: { lease, cursor: one, range } });
    }),
  );
});

test("a key that is sent as text is a cursor, unless it is empty or no UTF-8", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 1, maxLength: 80 }), (text) => {
      const read = new WireReader();
      expect(read.cursorAt(text, "cursors")).toEqual(Cursor.withLastKey(new TextEncoder().encode(text)));
      expect(read.done(1).ok).toBe(true);
    }),
  );
  for (const wrong of ["", "\ud800"]) {
    const read = new WireReader();
    read.cursorAt(wrong, "cursors");
    expect(read.done(1)).toMatchObject({ ok: false, error: { field: "cursors" } });
  }
});

test("records come back as they were, their logs included", () => {
  const at = LogicalTime.fromRaw(9n);
  fc.assert(
    fc.property(tenant, spec, cursor, shardId, u64, (owner, range, one, id, raw) => {
      const key = { run: RunId.fromRaw(raw), shard: id };
      const shard: ShardRecord = {
        ...newShardRecord({
          tenant: owner,
          key,
          spec: range,
          cursor: one,
          cursorSemantics: "Dispatched",
          parent: id,
          now: at,
        }),
        lease: { owner: WorkerId.fromRaw(raw), deadline: at, opId: OpId.fromRaw(raw) },
        spawned: [id],
        opLog: [
          {
            opId: OpId.fromRaw(raw),
            kind: "Checkpoint",
            result: "Completed",
            payloadHash: raw as never,
            executedAt: at,
          },
        ],
      };
      const run: RunRecord = {
        ...newRunRecord({
          tenant: owner,
          run: key.run,
          config: { cursorSemantics: "Completed", leaseDuration: raw, maxShardRetries: 3 },
          now: at,
        }),
        completedAt: at,
        rootShards: [id],
        opLog: [
          {
            opId: OpId.fromRaw(raw),
            kind: "RegisterShards",
            payloadHash: raw as never,
            executedAt: at,
            result: { kind: "RegisteredShards", shards: [id] },
          },
          {
            opId: OpId.fromRaw(raw),
            kind: "CancelRun",
            payloadHash: raw as never,
            executedAt: at,
            result: { kind: "Ack" },
          },
        ],
      };
      const read = new WireReader();
      expect(readShard(read, overWire(writeShard(shard, { withLog: true })))).toEqual(shard);
      expect(readRun(read, overWire(writeRun(run, { withLog: true })))).toEqual(run);
      expect(readShard(read, overWire(writeShard(shard))).opLog).toEqual([]);
      expect(read.done(1)).toEqual({ ok: true, value: 1 });
    }),
    { numRuns: 50 },
  );
});

test("views come back as they were", () => {
  const summary = fc.record({
    shard: shardId,
    status: fc.constantFrom("Active" as const, "Parked" as const),
    parkReason: fc.constantFrom(undefined, "Poisoned" as const),
    isLeased: fc.boolean(),
    leaseDeadline: fc.option(time, { nil: undefined }),
    acquireCount: fc.nat(),
    lastKey: fc.option(bytes(1), { nil: undefined }),
    keyRangeStart: bytes(),
    keyRangeEnd: bytes(),
    parent: fc.option(shardId, { nil: undefined }),
    spawnedCount: fc.nat(),
  });
  fc.assert(
    fc.property(summary, fc.option(bytes(1), { nil: undefined }), (one, watermark) => {
      const read = new WireReader();
      expect(readSummary(read, overWire(writeSummary(one)))).toEqual(one);
      const progress = { total: 5, active: 4, done: 1, split: 0, parked: 0, leased: 2, watermark };
      expect(readProgress(read, overWire(writeProgress(progress)))).toEqual(progress);
      const hint = { availableCount: 3, earliestDeadline: one.leaseDeadline, isStarved: true };
      expect(readCapacity(read, overWire(writeCapacity(hint)))).toEqual(hint);
      const position = { shard: one.shard, keyRangeStart: one.keyRangeStart };
      expect(readPosition(writePosition(position))).toEqual(position);
      expect(read.done(1)).toEqual({ ok: true, value: 1 });
    }),
  );
});

test.each([
  [(read: WireReader) => read.u64("18446744073709551616", "fence"), "fence"],
  [(read: WireReader) => read.cursor({ key: "a", key64: "YQ" }, "cursor"), "cursor.key64"],
  [(read: WireReader) => read.cursor({ key: "" }, "cursor"), "cursor.key"],
  [(read: WireReader) => read.cursor({ key: "\ud800" }, "cursor"), "cursor.key"],
  [(read: WireReader) => read.cursor({ key64: "Y" }, "cursor"), "cursor.key64"],
  [(read: WireReader) => read.cursor({ token: "t" }, "cursor"), "cursor.token"],
  [(read: WireReader) => read.range({ start: "a", start64: "YQ" }, "range"), "range.start64"],
])("a value that is none is named by its field %#", (use, field) => {
  const read = new WireReader();
  use(read);
  expect(read.done(1)).toMatchObject({ ok: false, error: { field } });
});

test("text that is no position is none", () => {
  for (const text of ["", "AAAA", "!"]) expect(readPosition(text)).toBeUndefined();
});
