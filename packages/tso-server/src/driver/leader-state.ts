import { assert } from "@gossip/stdx";
import { Epoch } from "@gossip/tso";
import { assertObject } from "@gossip/stdx/internal";
import type { PeerEndpoint } from "./peer-endpoint.ts";

/**
 * Until when a leadership may answer, on this process's monotonic clock, in milliseconds.
 *
 * The driver moves it as it renews its lease, so it is read for every answer. The driver guarantees that
 * no other node becomes leader before it has passed; `Infinity` if no other node can.
 */
export type ServesUntil = () => number;

/** What a driver knows about leadership. */
export type LeaderState =
  /** This node leads. A new term, even without a gap, is a new event with a greater epoch. */
  | { readonly kind: "Leader"; readonly epoch: Epoch; readonly servesUntilMs: ServesUntil }
  /** Another node leads, as far as is known. `leaderEpoch` never decreases from one event of a node to the next. */
  | { readonly kind: "Follower"; readonly leaderEndpoint?: PeerEndpoint; readonly leaderEpoch?: Epoch }
  /** An election is on, or the store cannot be reached. */
  | { readonly kind: "Unknown" };

export const UNKNOWN: LeaderState = Object.freeze({ kind: "Unknown" });

/** The deadline of a leadership that only this process can hold. */
export function foreverMs(): number {
  return Number.POSITIVE_INFINITY;
}

/** A leadership; one that no other node can take over unless it is given a deadline. */
export function leaderAt(epoch: bigint, servesUntilMs: ServesUntil = foreverMs): LeaderState {
  return { kind: "Leader", epoch: Epoch.fromRaw(epoch), servesUntilMs };
}

/** Throw unless this is one of the three states, whole. */
export function assertLeaderState(state: LeaderState): void {
  assertObject(state, "a state of leadership");
  assert(
    ["Leader", "Follower", "Unknown"].includes(state.kind),
    "a state of leadership is Leader, Follower or Unknown",
  );
  if (state.kind !== "Leader") return;
  assert(Epoch.tryFromRaw(state.epoch).ok, "a leader has an epoch from 0 to 2^128 - 1");
  assert(typeof state.servesUntilMs === "function", "a leader has a function that says until when it serves");
}

/** Whether two states are equal. A moved deadline is no change of state. */
export function sameLeaderState(a: LeaderState, b: LeaderState): boolean {
  if (a.kind === "Leader") return b.kind === "Leader" && a.epoch === b.epoch && a.servesUntilMs === b.servesUntilMs;
  if (a.kind === "Unknown") return b.kind === "Unknown";
  return b.kind === "Follower" && a.leaderEndpoint === b.leaderEndpoint && a.leaderEpoch === b.leaderEpoch;
}
