import type { RunRecord } from "@gossip/coordination";
import { InfraError } from "@gossip/coordination-errors";
import { ClaimBackoff } from "../policy/claim-backoff.ts";
import type { Item } from "../sources/source.ts";
import { sleep } from "../time/worker-time.ts";
import type { Outage } from "./outage.ts";
import type { Settings } from "./settings.ts";
import type { WorkerEvent } from "./worker-event.ts";
import type { StopReason } from "./worker-summary.ts";

/** Returns the run once it has shards to claim, or the reason why there is nothing to do. */
export async function openRun<I extends Item, R>(
  settings: Settings<I, R>,
  { emit, store }: { readonly emit: (event: WorkerEvent) => void; readonly store: Outage },
): Promise<RunRecord | StopReason> {
  const { coordinator, run, signal, time, patienceMs } = settings;
  const backoff = new ClaimBackoff();
  while (signal?.aborted !== true) {
    const found = await coordinator.getRun(run);
    if (found.ok) store.worked();
    if (found.ok && found.value.status !== "Initializing") return found.value;
    if (!found.ok) {
      const { error } = found;
      if (error.kind !== "BackendError") return { kind: "RunMissing", error };
      const isHopeless = store.failed() >= patienceMs || InfraError.isCorruption(error.reason);
      if (isHopeless) return { kind: "StoreFailed", error };
      emit({ kind: "StoreFailed", shard: undefined, operation: "getRun", error });
    }
    await sleep(time, backoff.nextWaitMs({ untilFreeMs: undefined, random: time.random() }), signal);
  }
  return { kind: "Aborted" };
}
