import type { RunRequest } from "@gossip/coordination";
import type { WorkEstimate } from "@gossip/worker";
import type { OpenedStore } from "../../store-url/opened-store.ts";
import { decodeEstimate, encodeEstimate } from "./estimate-note.ts";

const NAME = "work-estimate";
export const NO_ESTIMATE: WorkEstimate = { spans: [] };

/**
 * Read the estimate that a process of the run has stored. Empty if there is none. Never rejects: an estimate is advice.
 */
export async function readSharedEstimate(
  { coordinator }: Pick<OpenedStore, "coordinator">,
  { tenant, run }: RunRequest,
): Promise<WorkEstimate> {
  try {
    const stored = await coordinator.getRollup({ tenant, run, name: NAME });
    return (stored.ok && stored.value && decodeEstimate(stored.value)) || NO_ESTIMATE;
  } catch {
    return NO_ESTIMATE;
  }
}

/** Store a complete estimate with the run, for its other processes and for `gossip status`. Never rejects. */
export async function shareEstimate(
  { coordinator }: Pick<OpenedStore, "coordinator">,
  { tenant, run }: RunRequest,
  estimate: WorkEstimate,
): Promise<void> {
  try {
    void (await coordinator.putRollup({ tenant, run, name: NAME, value: encodeEstimate(estimate) }));
  } catch {
    // The service does not let this token write. Each process then has its own estimate.
  }
}
