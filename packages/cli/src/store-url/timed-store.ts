import { performance } from "node:perf_hooks";
import type { CoordinationStore } from "@gossip/coordination";
import type { OnStoreCall } from "./opened-store.ts";

const OPERATIONS = [
  "readRun",
  "readShard",
  "readShardInto",
  "readHint",
  "readProgress",
  "markStarved",
  "listClaimCandidates",
  "listShards",
  "listShardPositions",
  "listRuns",
  "listTenants",
  "listNotes",
  "countNotes",
  "readServerTime",
  "commit",
] as const satisfies readonly Exclude<keyof CoordinationStore, "traits">[];

/** The same store, with the duration of every call reported. */
export function timedStore(store: CoordinationStore, onCall: OnStoreCall): CoordinationStore {
  const timed: Record<string, unknown> = { traits: store.traits };
  for (const operation of OPERATIONS) {
    const call = store[operation] as ((...args: unknown[]) => unknown) | undefined;
    if (call === undefined) continue;
    timed[operation] = (...args: unknown[]): unknown => {
      const startMs = performance.now();
      const settled = (): void => onCall(operation, performance.now() - startMs);
      const answer = call.apply(store, args);
      if (!(answer instanceof Promise)) {
        settled();
        return answer;
      }
      return answer.finally(settled);
    };
  }
  return timed as unknown as CoordinationStore;
}
