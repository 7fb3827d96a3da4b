import type { CoreError, Epoch } from "@gossip/tso";
import type { DriverError } from "../driver/driver-error.ts";
import type { PeerEndpoint } from "../driver/peer-endpoint.ts";

/** Where the leader may be. Both parts may be unknown: then an election is on. */
export interface LeaderHint {
  readonly leaderEndpoint?: PeerEndpoint;
  readonly leaderEpoch?: Epoch;
}

/** Why a request for timestamps was refused. */
export type GetTsError =
  /** This node does not lead, or not for sure: its hold on leadership may have lapsed. */
  | ({ readonly kind: "NotLeader" } & LeaderHint)
  /** A request asks for 1 to 262,144 timestamps. */
  | CoreError<"InvalidCount">
  /** The clock, or the sum of it and the window, has left the 46 bits. */
  | CoreError<"PhysicalMsOutOfRange" | "WindowExtensionOverflow">
  /** The window is still too small after it was extended: the driver gave back a bound that is none. */
  | CoreError<"WindowExhausted">
  /** Issued time already leads the clock by `maxLeadMs`, and waiting for the clock did not help. */
  | { readonly kind: "TimeRunaway"; readonly maxLeadMs: number }
  /** That many requests wait already, and this caller has its share of them. */
  | { readonly kind: "Overloaded"; readonly maxWaiting: number }
  /** The bound could not be made durable now; asking again may help. */
  | DriverError<"TransientDriver">
  /** The bound could not be made durable, and asking again will not help. */
  | DriverError<"PermanentDriver" | "AdvanceOutOfRange">;

/** The state of the gate in front of the allocator. */
export type ServingState =
  | { readonly kind: "Serving"; readonly epoch: Epoch }
  | ({ readonly kind: "NotServing" } & LeaderHint);
