import type { Clock } from "@gossip/contracts";
import type { CoordinationStore, CoordinatorApi } from "@gossip/coordination";

/** A separate store for the thread, over the same records. */
interface OwnStore {
  readonly store: CoordinationStore;
  /** The fleet's clock. Default: the clock of this machine. */
  readonly clock?: Clock;
}

/** A separate coordinator for the thread, such as a client of a service. */
interface OwnCoordinator {
  readonly coordinator: Pick<CoordinatorApi, "renew">;
}

/** What the module named by `keepLeases` must return: what the thread renews with, and how it reports. */
export type KeeperStore = (OwnStore | OwnCoordinator) & KeeperCallbacks;

interface KeeperCallbacks {
  /**
   * Called in the thread about twice a second while the event loop of the process is blocked. Printing through
   * `console` or `process.stderr` would wait for that loop; `fs.writeSync` does not.
   */
  onBlocked?(blocked: BlockedLoop): void;
  /** The event loop runs again. */
  onUnblocked?(): void;
  close?(): Promise<void> | void;
}

/** An event loop that does not run. */
export interface BlockedLoop {
  /**
   * The key of the item that was started last, if any. That item blocks the loop if items run one at a time; otherwise
   * it may be another one that was started before it.
   */
  readonly key: Uint8Array | undefined;
  readonly blockedMs: number;
}

/** The function that the module exports as `openStore`. */
export type OpenKeeperStore = (options: unknown) => Promise<KeeperStore> | KeeperStore;

/**
 * How to renew leases while the event loop is blocked: a thread imports `module`, calls its exported
 * `openStore(options)`, and renews leases that are about to expire. This needs a store that two threads can open, so it
 * does not work with `MemoryStore`.
 */
export interface KeepLeases {
  readonly module: URL | string;
  /** Any value that `structuredClone` can copy. */
  readonly options?: unknown;
  /** How long the loop may be blocked before the thread stops renewing. Default: 5 minutes. */
  readonly maxBlockedMs?: number;
  /** Node options for the thread, such as `--import`. Default: those of this process. */
  readonly execArgv?: readonly string[];
}
