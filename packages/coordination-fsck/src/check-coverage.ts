import type { ShardId } from "@gossip/contracts";
import { compareBytes } from "@gossip/stdx";
import { inOrderOfDescent } from "./check-lineage.ts";
import type { CoverageFault, RunAddress, FsckFinding } from "./finding.ts";
import type { ShardNode, ShardNodes } from "./shard-node.ts";

/**
 * Check that splits have neither lost a key nor given one to two shards.
 *
 * What a shard was registered or created with is its range of today and, behind it, what residual splits
 * cut off, each of which is a shard of its own. So from the leaves upwards: the ranges that the children of a
 * split shard were created with must tile its range; those that were cut off must follow it without a gap; and
 * what registered shards began with must not overlap.
 *
 * It needs a lineage that is in order.
 */
export function* checkCoverage(address: RunAddress, nodes: ShardNodes): Generator<FsckFinding> {
  const order = inOrderOfDescent(nodes);
  const originalEnds = new Map<ShardId, Uint8Array>();
  for (const node of order.toReversed()) {
    const children = node.spawned.map((id) => nodes.get(id)!).toSorted(byStart);
    const inside = children.filter(({ start }) => isBelow(start, node.end));
    const behind = children.slice(inside.length);
    const followed = follow(node.end, behind, originalEnds);
    originalEnds.set(node.shard, followed.end);
    const fault = findInsideFault(node, inside, originalEnds) ?? followed.fault;
    if (fault !== undefined) yield { kind: "Coverage", ...address, shard: node.shard, fault };
    if (hasLostProgress(node, inside)) yield { kind: "LostProgress", ...address, shard: node.shard };
  }

  const roots = order.filter(({ parent }) => parent === undefined).toSorted(byStart);
  for (const [index, root] of roots.entries()) {
    const next = roots[index + 1];
    if (next !== undefined && isBelow(next.start, originalEnds.get(root.shard)!)) {
      yield { kind: "Coverage", ...address, shard: root.shard, fault: "Overlap" };
    }
  }
}

interface Followed {
  /** Where the last of them ended when it was created. */
  readonly end: Uint8Array;
  readonly fault: CoverageFault | undefined;
}

/** Go along ranges that should follow each other from `from` on. */
function follow(from: Uint8Array, ranges: readonly ShardNode[], ends: ReadonlyMap<ShardId, Uint8Array>): Followed {
  let end = from;
  for (const { shard, start } of ranges) {
    const order = compareEnds(start, end);
    if (order !== 0) return { end, fault: order > 0 ? "Gap" : "Overlap" };
    end = ends.get(shard)!;
  }
  return { end, fault: undefined };
}

/** Whether the children within a shard's range tile it. Only a split shard may have any. */
function findInsideFault(
  node: ShardNode,
  inside: readonly ShardNode[],
  ends: ReadonlyMap<ShardId, Uint8Array>,
): CoverageFault | undefined {
  if (node.status !== "Split") return inside.length === 0 ? undefined : "Overlap";
  const [first, ...rest] = inside;
  const startOrder = first === undefined ? 1 : compareBytes(first.start, node.start);
  if (first === undefined || startOrder !== 0) return startOrder > 0 ? "Gap" : "Outside";
  const { end, fault } = follow(ends.get(first.shard)!, rest, ends);
  if (fault !== undefined) return fault;
  const endOrder = compareEnds(end, node.end);
  if (endOrder === 0) return undefined;
  return endOrder < 0 ? "Gap" : "Outside";
}

/** Whether what a split shard had done is done no longer: its heir has the key and has not come to it. */
function hasLostProgress({ status, lastKey }: ShardNode, children: readonly ShardNode[]): boolean {
  if (status !== "Split" || lastKey === undefined) return false;
  const heir = children.find(({ start, end }) => compareBytes(start, lastKey) <= 0 && isBelow(lastKey, end));
  // Where it was cut short since, it still has the key: a cut lies above the cursor.
  return heir !== undefined && (heir.lastKey === undefined || compareBytes(heir.lastKey, lastKey) < 0);
}

function byStart(a: ShardNode, b: ShardNode): number {
  return compareBytes(a.start, b.start);
}

/** Whether a key lies below the end of a range. No end is above every key. */
function isBelow(key: Uint8Array, end: Uint8Array): boolean {
  return end.length === 0 || compareBytes(key, end) < 0;
}

/** Order two ends, or an end and a start that is not a run's first: an empty one is none, and above all others. */
function compareEnds(a: Uint8Array, b: Uint8Array): number {
  if (a.length === 0 || b.length === 0) return Number(a.length === 0) - Number(b.length === 0);
  return compareBytes(a, b);
}
