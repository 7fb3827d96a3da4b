import type { ShardId } from "@gossip/contracts";
import { type RunRecord } from "@gossip/coordination";
import { isPaged } from "@gossip/coordination/internal";
import type { RunAddress, FsckFinding } from "./finding.ts";
import type { ShardNode, ShardNodes } from "./shard-node.ts";

/**
 * Check that a run's shards name each other: every child its parent and every parent its children, every
 * registered shard is there and every other one comes from one that is.
 *
 * `isWhole` is false where some record could not be read. What is missing then says nothing.
 */
export function* checkLineage(
  address: RunAddress,
  run: RunRecord,
  nodes: ShardNodes,
  isWhole: boolean,
): Generator<FsckFinding> {
  let isBroken = false;
  const at = (shard: ShardId, detail: string): FsckFinding => {
    isBroken = true;
    return { kind: "Lineage", ...address, shard, detail };
  };
  const registered = new Set(run.rootShards);
  // Then the record names the shards of the last page alone. The census covers the others.
  const isInPages = run.status === "Initializing" || isPaged(run);
  if (isWhole) {
    for (const root of registered) if (!nodes.has(root)) yield at(root, "it was registered and is not there");
  }
  for (const node of nodes.values()) {
    if (node.parent === undefined && !registered.has(node.shard) && !isInPages)
      yield at(node.shard, "it is no child and was not registered");
    const detail = findParentFault(node, nodes, isWhole) ?? findChildFault(node, nodes, isWhole);
    if (detail !== undefined) yield at(node.shard, detail);
  }
  // Where all know each other and some still come from nowhere, they come from themselves.
  if (isBroken || !isWhole) return;
  for (const { shard } of findUnrooted(nodes)) yield at(shard, "its ancestors go round in a circle");
}

function findParentFault({ shard, parent }: ShardNode, nodes: ShardNodes, isWhole: boolean): string | undefined {
  if (parent === undefined) return undefined;
  const found = nodes.get(parent);
  if (found === undefined) return isWhole ? "its parent is not there" : undefined;
  return found.spawned.includes(shard) ? undefined : "its parent does not know it";
}

function findChildFault({ shard, spawned }: ShardNode, nodes: ShardNodes, isWhole: boolean): string | undefined {
  if (new Set(spawned).size !== spawned.length) return "it has spawned a shard twice";
  for (const child of spawned) {
    const found = nodes.get(child);
    if (found === undefined && isWhole) return "a shard that it has spawned is not there";
    if (found !== undefined && found.parent !== shard) return "a shard that it has spawned names another parent";
  }
  return undefined;
}

/** Shards from which no way leads up to one without a parent. */
function findUnrooted(nodes: ShardNodes): ShardNode[] {
  const reached = new Set(inOrderOfDescent(nodes).map(({ shard }) => shard));
  return [...nodes.values()].filter(({ shard }) => !reached.has(shard));
}

/** Shards from those without a parent downwards, each behind its parent. */
export function inOrderOfDescent(nodes: ShardNodes): ShardNode[] {
  const order = [...nodes.values()].filter(({ parent }) => parent === undefined);
  const seen = new Set(order.map(({ shard }) => shard));
  // It grows while it is walked: each shard adds those that it has spawned.
  for (const node of order) {
    for (const id of node.spawned) {
      const child = nodes.get(id);
      if (child === undefined || child.parent !== node.shard || seen.has(id)) continue;
      seen.add(id);
      order.push(child);
    }
  }
  return order;
}
