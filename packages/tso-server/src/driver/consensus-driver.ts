import type { Result } from "@gossip/stdx";
import type { Epoch } from "@gossip/tso";
import type { DriverError } from "./driver-error.ts";
import type { LeaderState } from "./leader-state.ts";

/**
 * What the server needs from a store that survives it: who leads, and one number that only grows.
 *
 * At most one node may be able to raise the bound at any time; a store where two writers can both
 * succeed cannot back a driver. `describeConsensusDriver` of `@gossip/tso-server/testing` holds an
 * implementation to all of this.
 */
export interface ConsensusDriver {
  /**
   * The present state at once, `Unknown` included, then every later one. States that a slow reader has not yet
   * taken are replaced by newer ones. It stays open as long as the driver does: an end stops the server.
   */
  leadershipEvents(): AsyncIterable<LeaderState>;

  /** The durable bound, or 0 if there is none. Sees every write acknowledged before the call, by any node in any epoch. */
  loadHighWater(): Promise<Result<number, DriverError>>;

  /**
   * Raise the durable bound to at least `atLeastMs` and answer with what is durable then: the greater of the two.
   *
   * It never lowers: a late or reordered call is absorbed. A bound outside 46 bits is refused before anything is
   * stored. A call that failed transiently may still take effect.
   */
  persistHighWater(atLeastMs: number, epoch: Epoch): Promise<Result<number, DriverError>>;

  /** Give up leadership and release what is held. Afterwards the event streams end. Doing it twice is doing it once. */
  close(): Promise<void>;
}
