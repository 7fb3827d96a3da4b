import type { Clock } from "@gossip/contracts";
import type { CoordinationStore } from "@gossip/coordination";

/** What a module that `keepLeases` names must give: a store of its own for the thread, on the same records. */
export interface KeeperStore {
  readonly store: CoordinationStore;
  /** The fleet's clock. The machine's where it is left out. */
  readonly clock?: Clock;
  close?(): Promise<void> | void;
}

/** The function that the module exports as `openStore`. */
export type OpenKeeperStore = (options: unknown) => Promise<KeeperStore> | KeeperStore;

/**
 * How to renew leases while the event loop is blocked: a thread imports `module`, calls its exported
 * `openStore(options)` and renews what comes near its end. It needs a store that two threads can open, so
 * `MemoryStore` cannot be kept so.
 */
export interface KeepLeases {
  readonly module: URL | string;
  /** Whatever `structuredClone` can copy. */
  readonly options?: unknown;
  /** How long a loop may stand still before its leases are let go; 5 minutes where it is left out. */
  readonly maxBlockedMs?: number;
  /** Options of Node for the thread, as `--import`; those of this process where they are left out. */
  readonly execArgv?: readonly string[];
}
