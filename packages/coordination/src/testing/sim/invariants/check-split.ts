import { ShardSpec, type ShardId } from "@gossip/contracts";
import { compareBytes } from "@gossip/stdx";
import { deriveSplitShardId } from "../../../hashing/derive-split-shard-id.ts";
import type { ShardRecord } from "../../../records/shard-record.ts";
import { addressOf } from "./check-shard.ts";
import type { SplitFault, Violation } from "./violation.ts";

/**
 * S7: a split shard has children, which exist, name it as their parent, and keep its cursor.
 *
 * `checkCoverage` checks that the children tile the parent, because it sees the whole run.
 */
export function checkSplit(record: ShardRecord, find: (shard: ShardId) => ShardRecord | undefined): Violation[] {
  const fault = findSplitFault(record, record.spawned.map(find));
  return fault === undefined ? [] : [{ kind: "SplitCoverage", ...addressOf(record), fault }];
}

/** The ids of what a split has just made must follow from the operation and from their positions in the parent's list. */
export function checkSpawnedIds(before: ShardRecord, after: ShardRecord): Violation[] {
  const { run, shard: parent, spawned } = after;
  const made = after.opLog.at(-1);
  const kind = after.status === "Split" ? "Child" : "Residual";
  for (let index = before.spawned.length; index < spawned.length; index++) {
    const derived = made && deriveSplitShardId({ run, parent, opId: made.opId, kind, index });
    if (spawned[index] !== derived) return [{ kind: "DerivedId", ...addressOf(after), index }];
  }
  return [];
}

function findSplitFault(record: ShardRecord, children: readonly (ShardRecord | undefined)[]): SplitFault | undefined {
  if (record.status === "Split" && children.length === 0) return "EmptySpawned";
  const found = children.filter((child) => child !== undefined);
  if (found.length < children.length) return "MissingChildren";
  if (found.some((child) => child.parent !== record.shard)) return "WrongParent";
  return record.status === "Split" && hasLostProgress(record, found) ? "LostProgress" : undefined;
}

/** Whether progress of the parent was lost: no shard that contains its last key has come as far. */
function hasLostProgress({ cursor }: ShardRecord, children: readonly ShardRecord[]): boolean {
  const { lastKey } = cursor;
  if (lastKey === undefined) return false;
  const heir = children.find((child) => ShardSpec.containsKey(child.spec, lastKey));
  // A child that was narrowed since still has the key: a split point lies above the cursor.
  return heir?.cursor.lastKey === undefined || compareBytes(heir.cursor.lastKey, lastKey) < 0;
}
