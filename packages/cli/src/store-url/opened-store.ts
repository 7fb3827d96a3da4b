import type { Clock } from "@gossip/contracts";
import type { CoordinationStore, CoordinatorApi } from "@gossip/coordination";
import type { FsckSource } from "@gossip/coordination-fsck";
import type { RunTransfer } from "@gossip/coordination-lmdb";
import type { StoreAddress } from "./store-address.ts";

/** Called after every call of a store or request to a service, whether it succeeded or not. */
export type OnStoreCall = (operation: string, ms: number) => void;

/** A coordinator for what `--store` names. */
export interface OpenedStore {
  readonly address: StoreAddress;
  /** A description for users, without credentials. */
  readonly description: string;
  readonly coordinator: CoordinatorApi;
  /** The time that leases are measured in. */
  readonly clock: Clock;
  /** The records themselves. `undefined` behind a service. */
  readonly direct: DirectStore | undefined;
  /** The same, with the duration of every call reported. */
  readonly observe: (onCall: OnStoreCall) => OpenedStore;
  readonly close: () => Promise<void>;
}

/** A store that this process has opened itself. */
export interface DirectStore {
  readonly store: CoordinationStore;
  readonly fsckSource: FsckSource;
  /** Moves the records of an embedded store to another node. */
  readonly transfer: RunTransfer | undefined;
  /** Whether processes on other machines may use it, so that their clocks matter. */
  readonly isShared: boolean;
}

/** An opened store that is not behind a service. */
export type OpenedDirectStore = OpenedStore & { readonly direct: DirectStore };
