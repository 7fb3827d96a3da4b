// A fleet is brought up to date one process at a time, and its store holds what the last version wrote. A record of it
// that is refused stops a shard for good; one that is filled in wrongly revives a lease or parks a shard for retries
// that never were.

import type { LogicalTime, OpId, WorkerId } from "@gossip/contracts";
import type { LeaseHolder, ShardRecord } from "@gossip/coordination";
import { ok } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeBlobHeader } from "./blob-header.ts";
import { decodeRunRecord } from "./decode-run-record.ts";
import { decodeShardRecord } from "./decode-shard-record.ts";
import { encodeShardRecord } from "./encode-shard-record.ts";
import { expectSame } from "./expect-same.fixture.ts";
import { runBlob, shardBlob } from "./layout.fixture.ts";
import { runRecord, shardRecord } from "./records.fixture.ts";
import { BUSY_SHARD, FRESH_SHARD } from "./samples.fixture.ts";

const time = (raw: bigint): LogicalTime => raw as LogicalTime;
const held = (deadline: bigint): LeaseHolder => ({
  owner: 7n as WorkerId,
  deadline: time(deadline),
  opId: 99n as OpId,
});
const readShard = (fields: Partial<ShardRecord>) => decodeShardRecord(shardBlob({ ...FRESH_SHARD, ...fields }, 1));

describe("a shard's record of version 1", () => {
  test("is read as it was, and given what it lacks", () => {
    fc.assert(
      fc.property(shardRecord, (record) => {
        const { lease, opLog } = record;
        expectSame(
          decodeShardRecord(shardBlob(record, 1)),
          ok({
            ...record,
            lease: lease === undefined ? undefined : { ...lease, opId: 0n },
            lastTime: opLog.at(-1)?.executedAt ?? 1n,
            attempts: 0,
          }),
        );
      }),
    );
  });

  test("becomes one of the newest version with its next write", () => {
    const read = readShard({ lease: held(50n) });
    const written = read.ok && encodeShardRecord(read.value);
    expect(written && decodeBlobHeader(written)).toEqual(ok({ version: 2, kind: "Shard" }));
    expect(written && decodeShardRecord(written)).toEqual(read);
  });

  // The newest logged operation of a busy shard.
  const newest = BUSY_SHARD.opLog.at(-1)!.executedAt;

  test.each([
    ["before the newest operation, whose clock had run back", newest - 1n, undefined],
    ["at the newest operation", newest, undefined],
    ["after it", newest + 1n, { owner: 7n, deadline: newest + 1n, opId: 0n }],
  ])("a lease that ends %s", (_name, deadline, expected) => {
    const read = readShard({ opLog: BUSY_SHARD.opLog, lease: held(deadline) });
    expect(read.ok && read.value.lease).toEqual(expected);
    expect(read.ok && read.value.lastTime).toBe(newest);
  });

  test("a lease without a deadline is damage and not an old lease", () => {
    expect(readShard({ lease: held(0n) })).toMatchObject({ ok: false, error: { kind: "InvariantViolation" } });
  });

  test("an old lease hides no other fault", () => {
    expect(readShard({ status: "Done", opLog: BUSY_SHARD.opLog, lease: held(5n) })).toEqual({
      ok: false,
      error: { kind: "InvariantViolation", blob: "Shard", detail: "a terminal shard must have no lease" },
    });
  });
});

describe("a run's record of version 1", () => {
  test("is read as it was, and its last time is the greatest that it names", () => {
    fc.assert(
      fc.property(runRecord, (record) => {
        const { createdAt, completedAt = createdAt, opLog } = record;
        const times = [createdAt, completedAt, opLog.at(-1)?.executedAt ?? createdAt];
        const lastTime = times.reduce((a, b) => (a > b ? a : b));
        expectSame(decodeRunRecord(runBlob(record, 1)), ok({ ...record, lastTime }));
      }),
    );
  });
});
