import { randomBytes } from "node:crypto";
import type { Compare, PutOperation } from "@gossip/etcd-client";
import type { Cluster } from "../cluster/cluster.ts";
import { newShardOperations, type EncodedShard } from "../layout/encoded-shards.ts";
import { EtcdFailure } from "../cluster/etcd-failure.ts";
import { pathOf, type RunAddress, type Space } from "../layout/layout.ts";
import { countedSpace } from "../layout/tallies.ts";
import { groupsFor, planTxn } from "../cluster/txn-budget.ts";

/** Maximum number of shards, and of their bytes, staged in one transaction. */
const SHARDS_PER_PIECE = 256;
const PIECE_SIZE = 1 << 19;
/** Number of pieces in flight. */
const PIECES_AT_ONCE = 4;

const SPACE_BYTES = 10;

/** A new, unused space. Changes of status in it are counted. */
export function newSpace(): Space {
  return countedSpace(randomBytes(SPACE_BYTES).toString("hex"));
}

/** Whether shards can be written together with their run, in one small transaction. */
export function isSmall(cluster: Cluster, shards: readonly EncodedShard[]): boolean {
  // Without nesting. Some operations are the run's.
  return shards.length * 3 + 8 <= cluster.maxTxnOps && sizeOf(shards) <= PIECE_SIZE;
}

/**
 * Writes shards into a space of their own, piece by piece. They are invisible until a run's head names the space.
 *
 * A marker key says that staging is in progress. Every piece is written on condition that the marker exists: deleting
 * it stops the staging, and the space can be swept. Returns whether everything was written.
 */
export async function stage(
  cluster: Cluster,
  address: RunAddress,
  { space, shards }: { readonly space: Space; readonly shards: readonly EncodedShard[] },
): Promise<boolean> {
  const marker = cluster.layout.staged(space);
  if (!(await put(cluster, [], [{ put: marker, value: pathOf(address) }]))) return false;
  return putPieces(cluster, isStaged(marker), { space, shards });
}

/** Writes shards piece by piece, each on a condition. Returns whether everything was written. */
export async function putPieces(
  cluster: Cluster,
  condition: Compare,
  { space, shards }: { readonly space: Space; readonly shards: readonly EncodedShard[] },
): Promise<boolean> {
  const { layout } = cluster;
  const waiting = intoPieces(shards);
  let isWhole = true;
  const work = async (): Promise<void> => {
    for (let piece = waiting.shift(); piece !== undefined && isWhole; piece = waiting.shift()) {
      if (
        !(await put(
          cluster,
          [condition],
          piece.flatMap((shard) => newShardOperations(layout, space, shard)),
        ))
      )
        isWhole = false;
    }
  };
  await Promise.all(Array.from({ length: PIECES_AT_ONCE }, work));
  return isWhole;
}

/** The condition that a staged space was not given up. */
export function isStaged(marker: string): Compare {
  return { key: marker, target: "CREATE", is: "GREATER", revision: 0n };
}

/** Whether a staged space was not given up yet. */
export async function isStillStaged(cluster: Cluster, space: Space): Promise<boolean> {
  const { found } = await cluster.look([{ get: cluster.layout.staged(space), keysOnly: true }]);
  return found[0]!.kvs.length > 0;
}

/** Writes in one transaction, or in several if the server accepts less. */
async function put(cluster: Cluster, compare: readonly Compare[], puts: readonly PutOperation[]): Promise<boolean> {
  const { maxTxnOps } = cluster;
  if (groupsFor(maxTxnOps, { compares: compare.length, outer: 0, inner: puts.length }) === undefined)
    return putInHalves(cluster, compare, puts);
  try {
    const { succeeded } = await cluster.write(planTxn(maxTxnOps, { compare, few: [], many: puts }));
    return succeeded;
  } catch (thrown) {
    if (!(thrown instanceof EtcdFailure)) throw thrown;
    if (thrown.isTooLarge && puts.length > 1) return putInHalves(cluster, compare, puts);
    // Staged keys are invisible, so an unknown outcome does no harm.
    throw EtcdFailure.harmless(thrown.error);
  }
}

async function putInHalves(
  cluster: Cluster,
  compare: readonly Compare[],
  puts: readonly PutOperation[],
): Promise<boolean> {
  const middle = Math.ceil(puts.length / 2);
  return (await put(cluster, compare, puts.slice(0, middle))) && put(cluster, compare, puts.slice(middle));
}

function intoPieces(shards: readonly EncodedShard[]): EncodedShard[][] {
  const pieces: EncodedShard[][] = [];
  let size = 0;
  for (const shard of shards) {
    const piece = pieces.at(-1);
    if (piece === undefined || piece.length >= SHARDS_PER_PIECE || size + shard.value.length > PIECE_SIZE) {
      pieces.push([shard]);
      size = shard.value.length;
    } else {
      piece.push(shard);
      size += shard.value.length;
    }
  }
  return pieces;
}

function sizeOf(shards: readonly EncodedShard[]): number {
  return shards.reduce((sum, { value }) => sum + value.length, 0);
}
