import type { RunId, TenantId } from "@gossip/contracts";
import type { CoordinationStore } from "@gossip/coordination";
import type { HealthWire } from "@gossip/protocol";

/** Checks the store, and knows what the last check found. */
export interface HealthSource {
  /** What is known now. Starts nothing. */
  read(): HealthWire;
  /** Start a check, unless one is running. Returns at once. */
  start(): void;
}

/** What the web console needs besides the coordinator. */
export interface InsightOptions {
  /** The coordinator's store. The history of runs is kept in its notes. */
  readonly store: CoordinationStore;
  /** Show the sizes of keys and error texts, and not their contents. */
  readonly hideKeys?: boolean;
  /** Write nothing to the store: the history of runs that no other process keeps is then in memory only. */
  readonly isReadOnly?: boolean;
  /** The store in words, without credentials. Shown to tokens that may use every tenant. */
  readonly storeName?: string;
  /** The version of the program. */
  readonly version?: string;
  /** How often a run that someone looks at is looked at; 1 s by default. */
  readonly lookEveryMs?: number;
  /** Keep the history of runs that no page shows, if this server executes their requests. */
  readonly recordsUnwatched?: boolean;
  readonly health?: HealthSource;
  /** Start a retry of a run's failures. `false` if one is running already. Left out: a page shows the command. */
  readonly retry?: (run: { readonly tenant: TenantId; readonly run: RunId }) => boolean;
  /** The command that retries a run, for people to copy. */
  readonly retryCommand?: (run: { readonly tenant: TenantId; readonly run: RunId }) => string;
}
