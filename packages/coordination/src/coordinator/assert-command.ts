import { OpId, RunId, ShardId, TenantId, WorkerId, type ShardKey } from "@gossip/contracts";
import { assert, assertCount } from "@gossip/stdx";
import { assertLease } from "../records/lease.ts";

/**
 * Throw unless what a caller passed is a command at all, each of its parts of the right type.
 *
 * Types see to it for whoever has them. For the others this is the difference between a
 * sentence and a `TypeError` from somewhere inside.
 */
export function assertCommand(command: object, parts: CommandParts): void {
  assert(typeof command === "object" && command !== null, () => `a command must be an object, got ${typeof command}`);
  const { tenant, key, run, worker, lease, opId, limit } = command as CommandFields;
  if (parts.tenant !== false) assert(TenantId.parse(tenant as string).ok, "tenant must be 64 lowercase hex digits");
  if (parts.key === true) assertShardKey(key);
  if (parts.run === true) RunId.fromRaw(run as bigint);
  if (parts.worker === true) WorkerId.fromRaw(worker as bigint);
  if (parts.lease === true) assertLease(lease);
  if (opId !== undefined) OpId.fromRaw(opId as bigint);
  if (limit !== undefined) assertCount(limit, "limit", { min: 1, max: MAX_PAGE_SIZE });
}

/** Most items of one page. */
export const MAX_PAGE_SIZE = 10_000;

interface CommandParts {
  readonly tenant?: boolean;
  readonly key?: boolean;
  readonly run?: boolean;
  readonly worker?: boolean;
  readonly lease?: boolean;
}

interface CommandFields {
  readonly tenant?: unknown;
  readonly key?: unknown;
  readonly run?: unknown;
  readonly worker?: unknown;
  readonly lease?: unknown;
  readonly opId?: unknown;
  readonly limit?: unknown;
}

function assertShardKey(key: unknown): void {
  assert(typeof key === "object" && key !== null, () => `shard key must be an object, got ${typeof key}`);
  const { run, shard } = key as ShardKey;
  RunId.fromRaw(run);
  ShardId.fromRaw(shard);
}
