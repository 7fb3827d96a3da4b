import { strict as assert } from "node:assert";
import type { Epoch } from "@gossip/tso";
import type { ConsensusDriver } from "../driver/consensus-driver.ts";
import type { LeaderState } from "../driver/leader-state.ts";

/**
 * One store, and ways to use and abuse it. The optional ways are for stores that can do more: name those that
 * there are when the suite is registered, and the rules that need them are asked of the driver too.
 */
export interface DriverFixture {
  /** Open a driver on the store. The first one leads, sooner or later. */
  open(): Promise<ConsensusDriver>;
  /** Drop a driver as a crash would, without closing it, and let its leadership lapse. Present where the bound outlives that. */
  crash?(driver: ConsensusDriver): Promise<void>;
  /** Try to open a second driver where only one may be. Answers whether it was refused. */
  openSecond?(): Promise<"refused" | "opened">;
  /** Open another node of the same store while the first one leads. It does not lead. */
  openFollower?(): Promise<ConsensusDriver>;
  /** Damage what is stored so that it cannot be trusted. Opening must fail afterwards. */
  spoil?(): Promise<void>;
  /** Leave behind what a crash leaves behind when it interrupts the making of the store. */
  leaveTemporary?(): Promise<void>;
  dispose(): Promise<void>;
}

/** The two functions of a test framework that a suite is registered with: vitest's, `node:test`'s, or your own. */
export interface SuiteRegistrar {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly test: (name: string, body: () => Promise<void>) => unknown;
}

/** The ways that not every store has. */
export type DriverAbility = "crash" | "openSecond" | "openFollower" | "spoil" | "leaveTemporary";

/** A rule, checked on a fresh fixture that has what the rule needs. */
export interface DriverRule {
  readonly needs: readonly DriverAbility[];
  readonly check: (fixture: Required<DriverFixture>) => Promise<void>;
}

export function rule(
  needs: readonly DriverAbility[],
  check: (fixture: Required<DriverFixture>) => Promise<void>,
): DriverRule {
  return { needs, check };
}

/** The present state: the first event of a new stream. */
export async function presentState(driver: ConsensusDriver): Promise<LeaderState> {
  for await (const state of driver.leadershipEvents()) return state;
  throw new assert.AssertionError({ message: "the stream of leadership events ended before its first event" });
}

/** Waits until the driver reports that it leads. */
export async function untilLeader(driver: ConsensusDriver): Promise<Epoch> {
  for await (const state of driver.leadershipEvents()) if (state.kind === "Leader") return state.epoch;
  throw new assert.AssertionError({ message: "the stream of leadership events ended without a leadership" });
}
