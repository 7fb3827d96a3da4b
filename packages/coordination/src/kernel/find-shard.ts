import type { ShardKey, TenantId } from "@gossip/contracts";
import { coordError, type CoordError } from "@gossip/coordination-errors";
import { err, ok, type Result } from "@gossip/stdx";
import type { RunHead } from "../records/run-record.ts";
import type { ShardRecord } from "../records/shard-record.ts";

/** A shard and its run, as they were read. */
export interface LoadedShard {
  readonly run: RunHead | undefined;
  readonly shard: ShardRecord | undefined;
}

/** Both of them, known to be there. */
export interface FoundShard {
  readonly run: RunHead;
  readonly shard: ShardRecord;
}

/**
 * The shard, if it is there.
 *
 * A run that has not been registered has no shards. A store may keep some for it
 * nevertheless: it stages a large registration piece by piece, and the write that
 * makes the run active is what makes them appear.
 */
export function findShard(loaded: LoadedShard, key: ShardKey): Result<FoundShard, CoordError<"ShardNotFound">> {
  const { run, shard } = loaded;
  if (run === undefined || shard === undefined || run.status === "Initializing") {
    return err(coordError("ShardNotFound", { shard: { run: key.run, shard: key.shard } }));
  }
  // What was read, and nothing made of it: this is in the way of every operation.
  return ok(loaded as FoundShard);
}

/** A stranger learns nothing of the record, so this comes before whatever tells of it. */
export function validateTenant(
  record: { readonly tenant: TenantId },
  tenant: TenantId,
): Result<void, CoordError<"TenantMismatch">> {
  return record.tenant === tenant ? ok() : err(coordError("TenantMismatch", { expected: tenant }));
}
