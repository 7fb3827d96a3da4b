import { U64_MAX, type RunId, type TenantId } from "@gossip/contracts";
import type { ClaimQuery, WriteSet } from "@gossip/coordination";
import { assertNoteWrites } from "@gossip/coordination/internal";
import { assert, assertCount } from "@gossip/stdx";

/** Identifies a run in a store. Write sets, queries and records all have these two fields. */
export interface RunAddress {
  readonly tenant: TenantId;
  readonly run: RunId;
}

const ANY_LIMIT = { min: 1, max: Number.MAX_SAFE_INTEGER };
const ANY_SPREAD = { min: 0, max: 2 ** 32 - 1 };

/** Throws if a write set is malformed, or holds a record that would be written under the keys of another run. */
export function assertWriteSet(set: WriteSet): void {
  switch (set.kind) {
    case "UpdateShard":
      assertOwnRecord(set, set.shard.after);
      if (set.notes !== undefined) assertNoteWrites(set.notes);
      assert(
        set.hintAt === undefined || (set.hintAt > 0n && set.hintAt < U64_MAX),
        "time of a hint must be a clock reading",
      );
      return;
    case "SplitShard":
      assertOwnRecord(set, set.shard.after);
      for (const record of set.created) assertOwnRecord(set, record);
      return;
    case "PutRun":
      assertOwnRecord(set, set.after);
      for (const record of set.created) assertOwnRecord(set, record);
      return;
    case "WriteNotes":
      return assertNoteWrites(set.notes);
    case "RemoveRun":
  }
}

function assertOwnRecord({ tenant, run }: RunAddress, record: RunAddress): void {
  assert(record.tenant === tenant && record.run === run, "a write set must hold records of its own run only");
}

/** Throws unless the limit and the spread of a claim query are in range. */
export function assertClaimQuery({ limit, spread }: Pick<ClaimQuery, "limit" | "spread">): void {
  assertCount(limit, "limit of candidates", ANY_LIMIT);
  assertCount(spread, "spread", ANY_SPREAD);
}

/** Throws unless the limit of a listing is in range. */
export function assertPageQuery({ limit }: { readonly limit: number }): void {
  assertCount(limit, "limit of a page", ANY_LIMIT);
}
