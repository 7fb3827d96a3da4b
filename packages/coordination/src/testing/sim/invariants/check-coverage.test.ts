// A gap between shards is work that is never done, unnoticed; an overlap is work that is done twice. The check must see
// exactly these, and must not mind where the registered ranges themselves leave room.

import {
  Cursor,
  RunId,
  ShardId,
  ShardKey,
  ShardSpec,
  TenantId,
  LogicalTime,
  type ShardStatus,
} from "@gossip/contracts";
import { describe, expect, test } from "vitest";
import { newShardRecord, type ShardRecord } from "../../../records/shard-record.ts";
import { checkCoverage } from "./check-coverage.ts";

const address = { tenant: TenantId.fromBytes(new Uint8Array(32).fill(1)), run: RunId.fromRaw(1n) };
const range = (start: number, end: number) => ({ start: Uint8Array.of(start), end: Uint8Array.of(end) });

function shard(start: number, end: number, status: ShardStatus = "Active"): ShardRecord {
  const record = newShardRecord({
    tenant: address.tenant,
    key: ShardKey.of(address.run, ShardId.fromRaw(1n)),
    spec: ShardSpec.withRange(range(start, end)),
    cursor: Cursor.initial(),
    cursorSemantics: "Completed",
    parent: undefined,
    now: LogicalTime.fromRaw(1n),
  });
  return { ...record, status };
}

describe("checkCoverage", () => {
  test.each([
    { what: "shards as they were registered", leaves: [shard(1, 5), shard(7, 9)], fault: undefined },
    {
      what: "any order, any state but split",
      leaves: [shard(7, 9, "Done"), shard(3, 5, "Parked"), shard(1, 3)],
      fault: undefined,
    },
    {
      what: "a split shard is not a leaf",
      leaves: [shard(1, 5, "Split"), shard(1, 2), shard(2, 5), shard(7, 9)],
      fault: undefined,
    },
    { what: "a gap inside", leaves: [shard(1, 2), shard(3, 5), shard(7, 9)], fault: "Gap" },
    { what: "a gap at the start", leaves: [shard(2, 5), shard(7, 9)], fault: "Gap" },
    { what: "a gap at the end", leaves: [shard(1, 4), shard(7, 9)], fault: "Gap" },
    { what: "a range without a shard", leaves: [shard(1, 5)], fault: "Gap" },
    { what: "an overlap", leaves: [shard(1, 4), shard(3, 5), shard(7, 9)], fault: "Overlap" },
    { what: "the same range twice", leaves: [shard(1, 5), shard(1, 5), shard(7, 9)], fault: "Overlap" },
    { what: "a shard that reaches across", leaves: [shard(1, 6), shard(7, 9)], fault: "Outside" },
    { what: "a shard where none was registered", leaves: [shard(1, 5), shard(7, 9), shard(20, 30)], fault: "Outside" },
  ])("$what: $fault", ({ leaves, fault }) => {
    const found = checkCoverage(address, [range(7, 9), range(1, 5)], leaves);

    expect(found).toEqual(fault === undefined ? [] : [{ kind: "CoverageConservation", ...address, fault }]);
  });
});
