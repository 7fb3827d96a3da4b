import type { Epoch } from "@gossip/tso";

/** What each kind of driver failure carries. One entry here is one kind. */
interface DriverErrorFields {
  /** This node does not lead. `observed` is the leadership that does, if the store reported it. */
  NotLeader: { readonly observed?: Epoch };
  /** A later leadership exists. To a caller it means the same as `NotLeader`: this leader is stale. */
  Fenced: { readonly expected: Epoch; readonly current: Epoch };
  /** May clear by itself: a timeout, a lost connection, no quorum. A persist that failed so may still take effect. */
  TransientDriver: { readonly reason: string };
  /** Will not clear by itself: a failed disk, a corrupt record. */
  PermanentDriver: { readonly reason: string };
  /** A bound outside 46 bits. Nothing was stored. */
  AdvanceOutOfRange: { readonly physicalMs: number };
}

export type DriverErrorKind = keyof DriverErrorFields;

/** A failure of one of the given kinds; of any kind by default. */
export type DriverError<Kind extends DriverErrorKind = DriverErrorKind> = {
  [K in Kind]: { readonly kind: K } & DriverErrorFields[K];
}[Kind];
