import { assert, assertCount, equalBytes } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { assertId } from "../assert-id.ts";
import { MAX_PREFIX_SIZE } from "../limits.ts";
import { copyBytes, type Bytes } from "../text-bytes.ts";
import type { MigrationError } from "./node-error.ts";

/** A move to start. */
export interface MoveRequest {
  /** Identifies the move, so that every step can be repeated. Chosen by the caller; never reuse it for another move. */
  readonly id: string;
  /** The prefix of a declared scope, exactly. */
  readonly prefix: Bytes;
  /** The node that owns the scope now. */
  readonly from: string;
  readonly to: string;
  /** Where clients reach `to`. Sent to clients that connect during the move. */
  readonly address?: string | undefined;
  /** The move aborts at this time, by the clock of the caller that passes `nowMs`. */
  readonly deadlineMs: number;
}

/**
 * A move as its source started it.
 *
 * Plain data that contains everything a reply to a client needs.
 */
export interface MigrationState {
  readonly id: string;
  readonly prefix: Uint8Array;
  readonly from: string;
  readonly to: string;
  readonly address: string | undefined;
  readonly deadlineMs: number;
  /**
   * Counts the moves of this prefix.
   *
   * Only the owner starts a move, so every move of a prefix has its own number and a later one has a greater
   * number. A target uses it to refuse an offer that arrives too late.
   */
  readonly number: number;
  /** The source's epoch after it started the move. */
  readonly epoch: number;
  /** A digest of the scopes nested in this one at the source; empty if there are none. */
  readonly inner: string;
}

export type MigrationOutcome = "Committed" | "Aborted";

/** A move that is over. */
export interface FinishedMigration extends MigrationState {
  readonly outcome: MigrationOutcome;
  /** The epoch of the deciding node after its decision: greater than the move's own. */
  readonly endEpoch: number;
}

/** The fields that identify a move. The source sets the others. */
export type MoveShape = Pick<MigrationState, "id" | "prefix" | "from" | "to" | "address" | "deadlineMs">;

export function isSameMove(a: MoveShape, b: MoveShape): boolean {
  return (
    a.id === b.id &&
    a.from === b.from &&
    a.to === b.to &&
    a.address === b.address &&
    a.deadlineMs === b.deadlineMs &&
    equalBytes(a.prefix, b.prefix)
  );
}

/** Checks and copies a request: the caller may change its own later. */
export function ownShape(request: MoveRequest): MoveShape {
  assertObject(request, "a move");
  const { id, prefix, from, to, address, deadlineMs } = request;
  assertId(id, "id");
  assertId(from, "from");
  assertId(to, "to");
  if (address !== undefined) assertId(address, "address");
  assertCount(deadlineMs, "deadlineMs", { min: 0, max: Number.MAX_SAFE_INTEGER });
  const own = copyBytes(prefix, "prefix");
  assert(own.length <= MAX_PREFIX_SIZE, () => `prefix must be at most ${MAX_PREFIX_SIZE} bytes, got ${own.length}`);
  return { id, prefix: own, from, to, address, deadlineMs };
}

/** Checks and copies a move that came from another node. */
export function ownMigration(state: MigrationState): MigrationState {
  const shape = ownShape(state);
  const { number, epoch, inner } = state;
  assertCount(number, "number", { min: 1, max: Number.MAX_SAFE_INTEGER });
  assertCount(epoch, "epoch", { min: 1, max: Number.MAX_SAFE_INTEGER });
  assertId(inner, "inner");
  return Object.freeze({ ...shape, number, epoch, inner });
}

/** As `ownMigration`, for a move that is over. */
export function ownFinished(state: FinishedMigration): FinishedMigration {
  const own = ownMigration(state);
  const { outcome, endEpoch } = state;
  assert(outcome === "Committed" || outcome === "Aborted", 'outcome must be "Committed" or "Aborted"');
  assertCount(endEpoch, "endEpoch", { min: own.epoch + 1, max: Number.MAX_SAFE_INTEGER });
  return Object.freeze({ ...own, outcome, endEpoch });
}

/** A copy for a caller, who may write into its prefix. */
export function copyMigration<T extends MigrationState>(state: T): T {
  return Object.freeze({ ...state, prefix: state.prefix.slice() });
}

export function isFinished(state: MigrationState): state is FinishedMigration {
  return "outcome" in state;
}

/** The error of a step that comes after the end of its move. */
export function asEnded({ id, outcome }: FinishedMigration): MigrationError<"AlreadyCommitted" | "Aborted"> {
  return { kind: outcome === "Committed" ? "AlreadyCommitted" : "Aborted", id };
}
