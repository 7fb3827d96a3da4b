// The main part of the tour: three workers hash every file of a tree. One of them dies half-way, one shard is
// split while it is worked on, and in the end every file was hashed exactly once.
import { Cursor, LogicalTime, OpId, RunId, ShardArena, TenantId, WorkerId, type InitialShardInput, type ShardSpecRef } from "@gossip/contracts";
import { Coordinator, MemoryStore, RANGE_EXHAUSTED, type WorkerSession } from "@gossip/coordination";
import { messageOf } from "@gossip/coordination-errors";
import { planHintedSplitResidual, PreallocShardBuilder, prefixSuccessor, splitPointsFromSamples } from "@gossip/frontier";
import { compareBytes, unwrap } from "@gossip/stdx";
import { hashFile, type TourFile } from "./files.ts";

export type Say = (line: string) => void;

const LEASE_MS = 30_000n;
const TENANT = TenantId.fromBytes(new Uint8Array(32).fill(7));
const RUN = RunId.fromRaw(1n);

/** Answers how often each path was hashed, by its digest. */
export async function hashTheTree(files: readonly TourFile[], say: Say): Promise<Map<string, string[]>> {
  // The tour's clock moves when we say so: nobody wants to wait for a lease to run out.
  let nowMs = 1_000n;
  const clock = { now: () => LogicalTime.fromRaw(nowMs) };
  const coordinator = new Coordinator({ store: new MemoryStore(), clock });
  const shards = cutIntoShards(files);
  unwrap(await coordinator.createRunWithShards({ tenant: TENANT, run: RUN, config: { cursorSemantics: "Completed", leaseDuration: LEASE_MS }, shards, opId: OpId.random() }));
  say(`${files.length} files cut into ${shards.length} shards of about the same number of files`);

  const results = new Map<string, string[]>();
  const claim = async (worker: bigint): Promise<WorkerSession> => unwrap(await coordinator.claim({ tenant: TENANT, run: RUN, worker: WorkerId.fromRaw(worker) }));

  const ada = await claim(1n);
  const doneByAda = await work(ada, files, results, { stopAfter: 20 });
  say(`worker 1 hashed ${doneByAda} files of its shard, stored its place, and died`);

  nowMs += LEASE_MS;
  const taken = unwrap(await coordinator.openSession({ tenant: TENANT, key: ada.shardKey, worker: WorkerId.fromRaw(2n) }));
  say(`its lease ran out; worker 2 took the shard over behind the last file that was done, with fence ${taken.lease.fence} after ${ada.lease.fence}`);

  const zombie = await ada.checkpoint(Cursor.withLastKey(taken.cursor.lastKey!), { opId: OpId.random() });
  if (zombie.ok) throw new Error("a dead worker was let back in");
  say(`worker 1 came back and was refused: ${messageOf(zombie.error)}`);

  const rest = remaining(taken.spec, taken.cursor, files);
  const plan = unwrap(planHintedSplitResidual(taken.spec, taken.cursor, rest[rest.length >> 1]!.key));
  unwrap(await taken.splitResidual(plan));
  say(`worker 2 gave the upper half of what was left (${rest.length - (rest.length >> 1)} of ${rest.length} files) to whoever is free`);

  await Promise.all([finish(taken, files, results), drain(coordinator, 2n, files, results), drain(coordinator, 3n, files, results)]);
  unwrap(await coordinator.completeRun({ tenant: TENANT, run: RUN, opId: OpId.random() }));
  const progress = unwrap(await coordinator.getRunProgress({ tenant: TENANT, run: RUN }));
  say(`the run is complete: ${progress.done} shards done, ${progress.active} active, ${progress.parked} parked`);
  return results;
}

function cutIntoShards(files: readonly TourFile[]): readonly InitialShardInput[] {
  const start = files[0]!.key;
  const end = prefixSuccessor(files.at(-1)!.key)!;
  const arena = ShardArena.withCapacity({ specSlots: 8, byteCapacity: 64 * 1024 });
  const builder = new PreallocShardBuilder(arena, { entryLimit: 8 });
  const splitPoints = splitPointsFromSamples({ start, end }, files.map((file) => file.key), 4);
  unwrap(builder.splitRangeByBoundaries({ start, splitPoints, end }));
  return unwrap(builder.buildInputs());
}

/** Claim shards and work through them until there is nothing left to claim. */
async function drain(coordinator: Coordinator, worker: bigint, files: readonly TourFile[], results: Map<string, string[]>): Promise<void> {
  for (;;) {
    const claimed = await coordinator.claim({ tenant: TENANT, run: RUN, worker: WorkerId.fromRaw(worker) });
    if (!claimed.ok) return;
    await finish(claimed.value, files, results);
  }
}

async function finish(session: WorkerSession, files: readonly TourFile[], results: Map<string, string[]>): Promise<void> {
  await work(session, files, results, { stopAfter: Number.POSITIVE_INFINITY });
  unwrap(await session.complete(RANGE_EXHAUSTED));
}

/** Hash what the shard still holds, and store the place after every tenth file and at the end. */
async function work(session: WorkerSession, files: readonly TourFile[], results: Map<string, string[]>, { stopAfter }: { readonly stopAfter: number }): Promise<number> {
  const mine = remaining(session.spec, session.cursor, files).slice(0, stopAfter);
  for (const [index, file] of mine.entries()) {
    results.set(file.path, [...(results.get(file.path) ?? []), hashFile(file.path)]);
    const isLast = index === mine.length - 1;
    if (isLast || index % 10 === 9) unwrap(await session.checkpoint(Cursor.withLastKey(file.key), { renew: true }));
  }
  return mine.length;
}

function remaining(spec: ShardSpecRef, cursor: Cursor, files: readonly TourFile[]): TourFile[] {
  return files.filter(({ key }) => {
    const isInRange = compareBytes(key, spec.keyRangeStart) >= 0 && compareBytes(key, spec.keyRangeEnd) < 0;
    return isInRange && (cursor.lastKey === undefined || compareBytes(key, cursor.lastKey) > 0);
  });
}
