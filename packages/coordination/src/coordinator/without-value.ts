import { IdempotentOutcome } from "@gossip/coordination-errors";

/** An outcome that tells no more than whether it was a repetition. */
export function withoutValue({ kind }: IdempotentOutcome<unknown>): IdempotentOutcome<void> {
  return kind === "Executed" ? IdempotentOutcome.executed() : IdempotentOutcome.replayed();
}
