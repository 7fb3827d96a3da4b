import type { LogicalTime } from "@gossip/contracts";
import type { CheckpointResult } from "@gossip/coordination";
import type { AnyCoordError, CheckpointError, IdempotentOutcome } from "@gossip/coordination-errors";
import { readCapacity, type ResponseOf } from "@gossip/protocol";
import { ok, type Result } from "@gossip/stdx";
import { failed, value } from "./read-response.ts";

/** The result of a checkpoint, as its caller gets it. */
export type Checkpointed = Result<IdempotentOutcome<CheckpointResult>, CheckpointError>;

export function readCheckpoint(got: Result<ResponseOf<"checkpoint">, AnyCoordError>): Checkpointed {
  if (!got.ok) return failed("checkpoint", got.error);
  const { outcome, deadline, capacity } = got.value;
  const result = value((read) => ({
    newDeadline: deadline === undefined ? undefined : read.u64<LogicalTime>(deadline, "deadline"),
    capacity: readCapacity(read, capacity),
  }));
  return ok({ kind: outcome, value: result });
}
