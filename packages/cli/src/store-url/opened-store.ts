import type { Clock } from "@gossip/contracts";
import type { Coordinator, CoordinationStore } from "@gossip/coordination";
import type { FsckSource } from "@gossip/coordination-fsck";
import type { StoreAddress } from "./store-address.ts";

/** A store that is open, with a coordinator over it. */
export interface OpenedStore {
  readonly address: StoreAddress;
  /** For people; without credentials. */
  readonly description: string;
  readonly store: CoordinationStore;
  readonly coordinator: Coordinator;
  readonly clock: Clock;
  readonly fsckSource: FsckSource;
  /** Whether processes of other machines may share it, and their clocks therefore matter. */
  readonly isShared: boolean;
  readonly close: () => Promise<void>;
}
