import type { Clock } from "@gossip/contracts";
import type { Coordinator, CoordinationStore } from "@gossip/coordination";
import type { FsckSource } from "@gossip/coordination-fsck";
import type { StoreAddress } from "./store-address.ts";

/** An open store with its coordinator. */
export interface OpenedStore {
  readonly address: StoreAddress;
  /** A description for users, without credentials. */
  readonly description: string;
  readonly store: CoordinationStore;
  readonly coordinator: Coordinator;
  readonly clock: Clock;
  readonly fsckSource: FsckSource;
  /** Whether processes on other machines may use it, so that their clocks matter. */
  readonly isShared: boolean;
  readonly close: () => Promise<void>;
}
