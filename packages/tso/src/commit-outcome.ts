import type { Epoch } from "./epoch.ts";

/** Why a durable bound did not become the window's. None of these is a failure. */
export type CommitIgnored =
  /** The leadership ended while the bound was being made durable. */
  | { readonly kind: "NotLeader" }
  /** Another leadership began meanwhile. Reported before `NotAdvanced`: a new term is no reordering. */
  | { readonly kind: "EpochMismatch"; readonly expected: Epoch; readonly current: Epoch }
  /** A later bound was committed first, or the same one. */
  | { readonly kind: "NotAdvanced"; readonly persistedMs: number; readonly committedMs: number };

export type CommitOutcome =
  | { readonly kind: "Applied"; readonly highWaterMs: number }
  | { readonly kind: "Ignored"; readonly reason: CommitIgnored };
