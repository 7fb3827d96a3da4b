import type { LogicalTime, ShardId } from "@gossip/contracts";
import type { ClaimCandidate, ClaimListing, ClaimQuery } from "@gossip/coordination";
import type { GetOperation, RangeResult } from "@gossip/etcd-client";
import type { Cluster } from "../cluster/cluster.ts";
import { Outpaced } from "../cluster/etcd-failure.ts";
import { readHeld } from "./held-leases.ts";
import { shardOf, type Layout, type Space } from "../layout/layout.ts";
import { danglingEntry, readShardAt, type RunLook } from "../read/run-heads.ts";
import type { StoreParts } from "../store-parts.ts";
import { freeWindow, heldWindow, isWholeFree, narrowFree, widenFree, withHeld, type Windows } from "./windows.ts";

/** A listing of at most this many candidates also reads their records. That covers a claim of one and a claim of many. */
const MAX_READ_ALONG = 320;
const MAX_TRIES = 32;

/**
 * Lists the shards that a worker may claim: first started and released, then untouched, then those with an expired
 * lease.
 *
 * The first request finds the shards and the second reads their records at the same revision, so that each can be
 * acquired with one write.
 */
export async function listClaimCandidates(
  { cluster, heads, windows: known }: StoreParts,
  query: ClaimQuery,
): Promise<ClaimListing> {
  const { layout } = cluster;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    let looks: ClaimLooks | undefined;
    const look = await heads.lookWith(query, (space) => {
      looks = space === undefined ? undefined : looksFor(layout, query, { space, windows: known.of(space) });
      return looks === undefined ? [] : [...looks.begun, ...looks.fresh, ...looks.held];
    });
    if (look === undefined) return { run: undefined, candidates: [], earliestDeadline: undefined };
    if (look.run.space === undefined || looks === undefined)
      return { run: look.run.head, candidates: [], earliestDeadline: undefined };
    const { found, next } = readLooks(look, looks, query);
    known.learn(look.run.space, next);
    if (found !== undefined) {
      const candidates = await readAlong(cluster, query, {
        space: look.run.space,
        revision: look.revision,
        shards: found.shards,
      });
      return { run: look.run.head, candidates, earliestDeadline: found.earliestDeadline };
    }
  }
  throw new Outpaced();
}

interface ClaimLooks {
  readonly used: Windows;
  readonly begun: readonly GetOperation[];
  readonly fresh: readonly GetOperation[];
  /** One, or none if the windows are ample. */
  readonly held: readonly GetOperation[];
}

function looksFor(
  layout: Layout,
  { now, limit, spread }: ClaimQuery,
  { space, windows }: { readonly space: Space; readonly windows: Windows },
): ClaimLooks {
  const look = { mix: spread, limit, keysOnly: true };
  return {
    used: windows,
    begun: freeWindow(layout, space, { ...look, isBegun: true, narrowness: windows.begun }),
    fresh: freeWindow(layout, space, { ...look, isBegun: false, narrowness: windows.fresh }),
    held: windows.isAmple
      ? []
      : [heldWindow(layout, space, { now, heldSpan: windows.heldSpan, limit: Math.max(limit + 1, windows.heldLimit) })],
  };
}

interface FoundShards {
  readonly shards: readonly ShardId[];
  readonly earliestDeadline: LogicalTime | undefined;
}

/** The shards found, if the windows were wide enough to tell, and the windows to use next. */
function readLooks(
  { found }: RunLook,
  { used, begun, fresh, held: asked }: ClaimLooks,
  query: ClaimQuery,
): { readonly found: FoundShards | undefined; readonly next: Windows } {
  const { held, next } =
    asked.length === 0 ? { held: undefined, next: used } : readHeld(found.at(-1)!, query.now, used);
  const ofBegun = found.slice(0, begun.length);
  const ofFresh = found.slice(begun.length, begun.length + fresh.length);
  const free = [...ofBegun, ...ofFresh].flatMap(({ kvs }) => kvs);
  const isFull = free.length >= query.limit;
  if (!isFull && !isWholeFree(used)) return { found: undefined, next: widenFree(next) };
  const fitted = narrowFree(next, { begun: sum(ofBegun), fresh: sum(ofFresh) });
  // Only a listing that is full may leave out the leases.
  if (held === undefined && !isFull) return { found: undefined, next: withHeld(fitted) };
  const shards = [...free, ...(held?.lapsed ?? [])].slice(0, query.limit).map(({ key }) => shardOf(key));
  return { found: { shards, earliestDeadline: held?.earliestDeadline }, next: fitted };
}

interface ListedShards {
  readonly space: Space;
  readonly revision: bigint;
  readonly shards: readonly ShardId[];
}

async function readAlong(
  cluster: Cluster,
  query: ClaimQuery,
  { space, revision, shards }: ListedShards,
): Promise<ClaimCandidate[]> {
  if (shards.length > MAX_READ_ALONG) return shards.map((shard) => ({ shard }));
  const records = await cluster.readAt(
    revision,
    shards.map((shard) => cluster.layout.record(space, shard)),
  );
  return shards.map((shard, index) => {
    const kv = records[index];
    if (kv === undefined) throw danglingEntry();
    return { shard, read: readShardAt(query, space, kv) };
  });
}

function sum(ranges: readonly RangeResult[]): number {
  return ranges.reduce((total, { count }) => total + count, 0);
}
