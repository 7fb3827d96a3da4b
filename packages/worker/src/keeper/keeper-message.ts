import type { Lease } from "@gossip/coordination";

/** The data that a thread is started with. */
export interface KeeperStart {
  readonly module: string;
  readonly options: unknown;
  readonly leaseMs: number;
  readonly maxBlockedMs: number;
  readonly table: SharedArrayBuffer;
  readonly running: SharedArrayBuffer;
}

/** Messages to the thread. */
export type KeeperOrder =
  | { readonly kind: "Hold"; readonly slot: number; readonly lease: Lease }
  | { readonly kind: "Drop"; readonly slot: number }
  | { readonly kind: "Close" };

/** Messages from the thread. A failure to open the store arrives as an error event of the thread. */
export interface KeeperReport {
  readonly kind: "Open";
}
