import type { RunRequest } from "@gossip/coordination";
import type { WorkEstimate } from "@gossip/worker";
import type { OpenedStore } from "../../store-url/opened-store.ts";
import { decodeEstimate, encodeEstimate } from "./estimate-note.ts";

const SPACE = "rollup";
const KEY = /* @__PURE__ */ new TextEncoder().encode("work-estimate");
export const NO_ESTIMATE: WorkEstimate = { spans: [] };

/**
 * Read the estimate that a process of the run has stored. Empty if there is none. Never rejects: an estimate is advice.
 */
export async function readSharedEstimate(
  { store }: Pick<OpenedStore, "store">,
  { tenant, run }: RunRequest,
): Promise<WorkEstimate> {
  try {
    const page = await store.listNotes?.({ tenant, run, space: SPACE, start: KEY, end: undefined, limit: 1 });
    const [note] = page?.ok === true ? page.value.items : [];
    return (note && decodeEstimate(note.value)) ?? NO_ESTIMATE;
  } catch {
    return NO_ESTIMATE;
  }
}

/** Store a complete estimate with the run, for its other processes and for `gossip status`. Never rejects. */
export async function shareEstimate(
  { store }: Pick<OpenedStore, "store">,
  { tenant, run }: RunRequest,
  estimate: WorkEstimate,
): Promise<void> {
  if (store.listNotes === undefined) return;
  try {
    const notes = [{ space: SPACE, key: KEY, value: encodeEstimate(estimate) }] as const;
    await store.commit([{ kind: "WriteNotes", tenant, run, notes }]);
  } catch {
    // The store is not available. Each process then has its own estimate.
  }
}
