// Runs in states that a page has to show.
import {
  Cursor,
  OpId,
  planSplitReplaceAtPoints,
  RunId,
  ShardId,
  ShardSpec,
  TenantId,
  WorkerId,
} from "@gossip/contracts";
import type { Coordinator } from "@gossip/coordination";
import { unwrap } from "@gossip/stdx";

export interface SeedOptions {
  readonly run: bigint;
  readonly shardCount: number;
}

/** An active run of equal shards. Shard `n` has the id `n + 1` and the keys from `keyOf(n)`. */
export async function seedRun(coordinator: Coordinator, { run, shardCount }: SeedOptions): Promise<RunId> {
  const id = RunId.fromRaw(run);
  const shards = Array.from({ length: shardCount }, (_, index) => ({
    shard: ShardId.fromRaw(BigInt(index + 1)),
    spec: ShardSpec.withRange({ start: keyOf(index), end: keyOf(index + 1) }),
    cursor: Cursor.initial(),
  }));
  const config = { leaseDuration: 600_000n };
  unwrap(
    await coordinator.createRunWithShards({ tenant: TenantId.ZERO, run: id, config, shards, opId: OpId.fromRaw(run) }),
  );
  return id;
}

export function keyOf(index: number): Uint8Array {
  return new TextEncoder().encode(`logs/${String(index).padStart(7, "0")}/`);
}

/** Puts shards of a run into every state: the first third done, then some in progress with a cursor, two parked. */
export async function workOn(coordinator: Coordinator, run: RunId, shardCount: number): Promise<void> {
  const tenant = TenantId.ZERO;
  const worker = WorkerId.fromRaw(0xa117n);
  const done = Math.floor(shardCount / 3);
  const open = (index: number) =>
    coordinator.openSession({ tenant, key: { run, shard: ShardId.fromRaw(BigInt(index + 1)) }, worker });
  for (let index = 0; index < done; index++)
    unwrap(await unwrap(await open(index)).complete(Cursor.withLastKey(itemOf(index, 9))));
  for (let index = done; index < done + 4; index++)
    unwrap(await unwrap(await open(index)).checkpoint(Cursor.withLastKey(itemOf(index, 5))));
  for (const index of [done + 6, done + 9]) {
    const session = unwrap(await open(index));
    unwrap(await session.checkpoint(Cursor.withLastKey(itemOf(index, 3))));
    unwrap(await session.park("Poisoned"));
  }
}

/** Splits every shard of a run into `children` shards. A run begins with at most 10,000. */
export async function splitAll(
  coordinator: Coordinator,
  run: RunId,
  { shardCount, children }: { readonly shardCount: number; readonly children: number },
): Promise<void> {
  const split = async (index: number): Promise<void> => {
    const key = { run, shard: ShardId.fromRaw(BigInt(index + 1)) };
    const session = unwrap(await coordinator.openSession({ tenant: TenantId.ZERO, key, worker: WorkerId.fromRaw(1n) }));
    const points = Array.from({ length: children - 1 }, (_, child) => itemOf(index, 1000 + child));
    unwrap(await session.splitReplace(unwrap(planSplitReplaceAtPoints(session.spec, session.cursor, points))));
  };
  for (let from = 0; from < shardCount; from += AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, shardCount - from) }, (_, each) => split(from + each)));
}

/** Writes that share a commit. */
const AT_ONCE = 50;

function itemOf(index: number, item: number): Uint8Array {
  return new TextEncoder().encode(`logs/${String(index).padStart(7, "0")}/${item}`);
}
