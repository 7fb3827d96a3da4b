import { performance } from "node:perf_hooks";
import { Coordinator, type CoordinationStore } from "@gossip/coordination";
import type { OpenedStore } from "../store-url/opened-store.ts";

/** Called after every call of a store, whether it succeeded or not. */
export type OnStoreCall = (operation: string, ms: number) => void;

const OPERATIONS = [
  "readRun",
  "readShard",
  "readShardInto",
  "readHint",
  "readProgress",
  "markStarved",
  "listClaimCandidates",
  "listShards",
  "listRuns",
  "listTenants",
  "listNotes",
  "countNotes",
  "readServerTime",
  "commit",
] as const satisfies readonly Exclude<keyof CoordinationStore, "traits">[];

/** The same store and a coordinator for it, with the duration of every call reported. */
export function observeCalls(opened: OpenedStore, onCall: OnStoreCall): OpenedStore {
  const store = timedStore(opened.store, onCall);
  return { ...opened, store, coordinator: new Coordinator({ store, clock: opened.clock }) };
}

/** The same store, with the duration of every call reported. */
function timedStore(store: CoordinationStore, onCall: OnStoreCall): CoordinationStore {
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
