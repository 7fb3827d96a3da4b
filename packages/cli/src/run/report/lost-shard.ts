import type { WorkerId } from "@gossip/contracts";
import type { RunRequest } from "@gossip/coordination";
import type { WorkerEvent } from "@gossip/worker";
import type { ProgressView } from "../../progress/run-progress.ts";
import type { OpenedStore } from "../../store-url/opened-store.ts";
import { formatShardId } from "../inspect/run-reference.ts";

export interface LostShardOptions {
  readonly opened: Pick<OpenedStore, "coordinator" | "clock">;
  readonly request: RunRequest;
  /** The id of this process. */
  readonly worker: WorkerId;
  readonly view: Pick<ProgressView, "say">;
}

/** Print that a shard was lost, and to whom: the record says whether another worker holds it now. Never rejects. */
export async function reportLostShard(
  event: WorkerEvent<"LeaseLost">,
  { opened, request, worker, view }: LostShardOptions,
): Promise<void> {
  const isTaken = await isHeldByAnother(event, { opened, request, worker, view });
  const shard = formatShardId(event.shard);
  view.say(
    isTaken
      ? `lost shard ${shard} to another worker; items that were not stored are done again`
      : `the lease of shard ${shard} ended before it could be renewed; a worker will continue it, and items that were not stored are done again`,
    { kind: "lost", shard: event.shard, cause: event.cause, isTaken },
  );
}

async function isHeldByAnother(
  { shard }: WorkerEvent<"LeaseLost">,
  { opened, request: { tenant, run }, worker }: LostShardOptions,
): Promise<boolean> {
  try {
    const record = await opened.coordinator.getShard({ tenant, key: { run, shard } });
    const lease = record.ok ? record.value?.lease : undefined;
    return lease !== undefined && lease.owner !== worker && lease.deadline > (await opened.clock.now());
  } catch {
    // An unavailable clock: then it is not known who holds the shard.
    return false;
  }
}
