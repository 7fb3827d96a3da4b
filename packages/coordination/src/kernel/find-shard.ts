import type { ShardKey, TenantId } from "@gossip/contracts";
import { coordError, type CoordError } from "@gossip/coordination-errors";
import { err, ok, type Result } from "@gossip/stdx";
import type { RunHead } from "../records/run-record.ts";
import type { ShardRecord } from "../records/shard-record.ts";

/** A shard and its run, as read. */
export interface LoadedShard {
  readonly run: RunHead | undefined;
  readonly shard: ShardRecord | undefined;
}

/** Both of them, known to exist. */
export interface FoundShard {
  readonly run: RunHead;
  readonly shard: ShardRecord;
}

/**
 * The shard, if it exists.
 *
 * A run that is not registered has no shards, although a store may keep some for it: it stages a large registration
 * piece by piece, and the write that makes the run active makes them visible.
 */
export function findShard(loaded: LoadedShard, key: ShardKey): Result<FoundShard, CoordError<"ShardNotFound">> {
  const { run, shard } = loaded;
  if (run === undefined || shard === undefined || run.status === "Initializing") {
    return err(coordError("ShardNotFound", { shard: { run: key.run, shard: key.shard } }));
  }
  // No new object: every operation comes through here.
  return ok(loaded as FoundShard);
}

/** Checks the tenant. Comes before everything that would reveal the record. */
export function validateTenant(
  record: { readonly tenant: TenantId },
  tenant: TenantId,
): Result<void, CoordError<"TenantMismatch">> {
  return record.tenant === tenant ? ok() : err(coordError("TenantMismatch", { expected: tenant }));
}
