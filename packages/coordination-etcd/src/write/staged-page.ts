import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { decodeShardRecord } from "@gossip/coordination-codec";
import type { Compare } from "@gossip/etcd-client";
import type { Cluster } from "../cluster/cluster.ts";
import { EtcdFailure } from "../cluster/etcd-failure.ts";
import { indexEntries, type EncodedShard } from "../layout/encoded-shards.ts";
import { ShardKind, shardOf, type Space } from "../layout/layout.ts";
import { putPieces } from "./staging.ts";

// A run whose shards come in pages has one space for all of them. A further page that does not fit into a transaction is
// staged in that space, where nothing is visible before the run is active. A marker names the attempt: each piece is
// written on condition that the marker is still its own, so a later attempt that takes the marker stops the earlier one
// and can remove what it left. What an attempt left is what was written after the run's head.

/** How many shards one transaction removes. */
const REMOVED_AT_ONCE = 32;
/** How long an attempt that is under way may write nothing. */
const QUIET_MS = 1000;

/** The condition that this attempt still owns the marker. */
export function ownsPage(marker: string, revision: bigint): Compare {
  return { key: marker, target: "MOD", is: "EQUAL", revision };
}

/**
 * Takes the marker of a space, and removes what an earlier attempt left. Returns the marker's revision, or `undefined`
 * if another process was quicker.
 *
 * `seen` is the marker's revision as it was read, 0 if there was none, and `written` that of the run's head.
 */
export async function takePage(
  cluster: Cluster,
  space: Space,
  { seen, written }: { readonly seen: bigint; readonly written: bigint },
): Promise<bigint | undefined> {
  const marker = cluster.layout.page(space);
  const taken = await harmless(
    cluster.write({
      compare: [ownsPage(marker, seen)],
      success: [{ put: marker, value: randomBytes(8).toString("hex") }],
    }),
  );
  if (!taken.succeeded) return undefined;
  if (seen > 0n && !(await removeLeft(cluster, space, { written, marker, revision: taken.revision }))) return undefined;
  return taken.revision;
}

/**
 * Whether nothing was staged in a space for a while. An attempt that is only slow loses what it staged and is made again
 * by its caller.
 */
export async function isAbandoned(cluster: Cluster, space: Space, page: bigint): Promise<boolean> {
  const look = async (): Promise<string> => {
    const { found } = await cluster.look([
      { get: cluster.layout.page(space), keysOnly: true },
      { ...cluster.layout.kind(space, ShardKind.Record), countOnly: true },
    ]);
    return `${found[0]!.kvs[0]?.modRevision ?? 0n} ${found[1]!.count}`;
  };
  const before = await look();
  await setTimeout(QUIET_MS);
  return before.startsWith(`${page} `) && (await look()) === before;
}

/** Removes this attempt's marker. Returns whether it still was this attempt's. */
export async function dropPage(cluster: Cluster, space: Space, revision: bigint): Promise<boolean> {
  const marker = cluster.layout.page(space);
  const done = await harmless(cluster.write({ compare: [ownsPage(marker, revision)], success: [{ delete: marker }] }));
  return done.succeeded;
}

/** Writes the shards of a page. Returns whether all of them are there. */
export function stagePage(
  cluster: Cluster,
  revision: bigint,
  page: { readonly space: Space; readonly shards: readonly EncodedShard[] },
): Promise<boolean> {
  return putPieces(cluster, ownsPage(cluster.layout.page(page.space), revision), page);
}

/** Removes the shards that were written after the run's head. Returns whether the marker stayed this attempt's. */
async function removeLeft(
  cluster: Cluster,
  space: Space,
  { written, marker, revision }: { readonly written: bigint; readonly marker: string; readonly revision: bigint },
): Promise<boolean> {
  const { layout } = cluster;
  for await (const page of cluster.walk(revision, layout.kind(space, ShardKind.Record))) {
    const left = page.filter((kv) => kv.modRevision > written);
    for (let at = 0; at < left.length; at += REMOVED_AT_ONCE) {
      const keys = left.slice(at, at + REMOVED_AT_ONCE).flatMap((kv) => {
        const decoded = decodeShardRecord(kv.value);
        const indexed = decoded.ok ? indexEntries(layout, space, decoded.value).map(({ key }) => key) : [];
        return [layout.record(space, shardOf(kv.key)), ...indexed];
      });
      const done = await harmless(
        cluster.write({ compare: [ownsPage(marker, revision)], success: keys.map((key) => ({ delete: key })) }),
      );
      if (!done.succeeded) return false;
    }
  }
  return true;
}

/** Nothing of this is visible, so an unknown outcome does no harm. */
async function harmless<Value>(writing: Promise<Value>): Promise<Value> {
  try {
    return await writing;
  } catch (thrown) {
    throw thrown instanceof EtcdFailure ? EtcdFailure.harmless(thrown.error) : thrown;
  }
}
