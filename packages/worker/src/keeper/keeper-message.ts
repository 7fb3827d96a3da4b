import type { Lease } from "@gossip/coordination";

/** What a thread is started with. */
export interface KeeperStart {
  readonly module: string;
  readonly options: unknown;
  readonly leaseMs: number;
  readonly maxBlockedMs: number;
  readonly table: SharedArrayBuffer;
}

/** What the thread is told. */
export type KeeperOrder =
  | { readonly kind: "Hold"; readonly slot: number; readonly lease: Lease }
  | { readonly kind: "Drop"; readonly slot: number }
  | { readonly kind: "Close" };

/** What the thread tells. Why it could not be opened comes as an error of the thread. */
export interface KeeperReport {
  readonly kind: "Open";
}
