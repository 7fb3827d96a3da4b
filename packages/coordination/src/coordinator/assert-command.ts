import { OpId, RunId, ShardId, ShardStatus, TenantId, WorkerId, type ShardKey } from "@gossip/contracts";
import { assert, assertBytes, assertCount } from "@gossip/stdx";
import { assertLease, assertLeaseNumbers } from "../records/lease.ts";
import type { ShardPosition } from "../store/store-reads.ts";
import type { ShardFilter } from "../views/shard-filter.ts";
import type { CheckpointRequest } from "./shard-requests.ts";

/**
 * Throws `InvariantViolation` unless a caller passed a command with every part of the right type.
 *
 * The compiler checks this for TypeScript callers. Everyone else gets a clear message instead of a `TypeError` from
 * deep inside.
 */
export function assertCommand(command: object, parts: CommandParts): void {
  assert(typeof command === "object" && command !== null, () => `a command must be an object, got ${typeof command}`);
  const { tenant, key, run, worker, lease, shards, opId, limit } = command as CommandFields;
  if (parts.tenant !== false) assert(TenantId.parse(tenant as string).ok, "tenant must be 64 lowercase hex digits");
  if (parts.key === true) assertShardKey(key);
  if (parts.run === true) RunId.fromRaw(run as bigint);
  if (parts.worker === true) WorkerId.fromRaw(worker as bigint);
  if (parts.lease === true) assertLease(lease);
  if (parts.shards === true) assertShards(shards);
  if (parts.opId === true || opId !== undefined) OpId.fromRaw(opId as bigint);
  if (limit !== undefined) assertCount(limit, "limit", { min: 1, max: parts.maxLimit ?? MAX_PAGE_SIZE });
}

/** Throws unless a caller passed a list of checkpoints. Those of one tenant check it once: that is most of the cost. */
export function assertCheckpoints(requests: readonly CheckpointRequest[]): void {
  assert(Array.isArray(requests), () => `checkpoints must come in an array, got ${typeof requests}`);
  let known: TenantId | undefined;
  for (const request of requests) {
    assert(typeof request === "object" && request !== null, () => `a command must be an object, got ${typeof request}`);
    const { tenant, lease, opId, renew } = request;
    if (known === undefined || tenant !== known || lease?.tenant !== known) {
      assertCommand(request, LOGGED);
      known = tenant === lease.tenant ? tenant : undefined;
    } else {
      assertLeaseNumbers(lease);
      OpId.fromRaw(opId);
    }
    if (renew !== undefined && typeof renew !== "boolean") assertFlags({ renew });
  }
}

const LOGGED = { lease: true, opId: true } as const;

/** Throws unless the options of a list are valid. */
export function assertListing({ filter, after }: { readonly filter?: unknown; readonly after?: unknown }): void {
  if (filter !== undefined) assertFilter(filter);
  if (after === undefined) return;
  assert(
    typeof after === "object" && after !== null,
    () => `a position must be what a page before it gave, got ${typeof after}`,
  );
  const { keyRangeStart, shard } = after as ShardPosition;
  assertBytes(keyRangeStart, "range start of the position");
  ShardId.fromRaw(shard);
}

function assertFilter(filter: unknown): void {
  assert(
    typeof filter === "object" && filter !== null && !Array.isArray(filter),
    () => `a filter must be an object, got ${typeof filter}`,
  );
  const { status, isLeased, rootOnly } = filter as ShardFilter;
  assert(
    status === undefined || ShardStatus.is(status),
    () => `status of a filter must be one of ${ShardStatus.values.join(", ")}`,
  );
  assertFlags({ isLeased, rootOnly });
}

/** Throws unless the given options are booleans. Any other value would count as `true`. */
export function assertFlags(flags: Readonly<Record<string, unknown>>): void {
  for (const [name, flag] of Object.entries(flags)) {
    assert(flag === undefined || typeof flag === "boolean", () => `${name} must be true or false, got ${typeof flag}`);
  }
}

/** Maximum number of items in one page. */
export const MAX_PAGE_SIZE = 10_000;

interface CommandParts {
  readonly tenant?: boolean;
  readonly key?: boolean;
  readonly run?: boolean;
  readonly worker?: boolean;
  readonly lease?: boolean;
  readonly shards?: boolean;
  /** Whether the part is required. A part that is present is always checked. */
  readonly opId?: boolean;
  /** `MAX_PAGE_SIZE` by default. */
  readonly maxLimit?: number;
}

interface CommandFields {
  readonly tenant?: unknown;
  readonly key?: unknown;
  readonly run?: unknown;
  readonly worker?: unknown;
  readonly lease?: unknown;
  readonly shards?: unknown;
  readonly opId?: unknown;
  readonly limit?: unknown;
}

function assertShardKey(key: unknown): void {
  assert(typeof key === "object" && key !== null, () => `shard key must be an object, got ${typeof key}`);
  const { run, shard } = key as ShardKey;
  RunId.fromRaw(run);
  ShardId.fromRaw(shard);
}

/** The specs and cursors are checked when they are hashed. */
function assertShards(shards: unknown): void {
  assert(Array.isArray(shards), () => `shards must be an array, got ${typeof shards}`);
  for (const input of shards as unknown[]) {
    assert(
      typeof input === "object" && input !== null,
      () => `a shard to register must be an object, got ${typeof input}`,
    );
    ShardId.fromRaw((input as { readonly shard: bigint }).shard);
  }
}
