import type { CompleteError, IdempotentOutcome } from "@gossip/coordination-errors";
import { CompleteOperation } from "../coordinator/complete-operation.ts";
import { withoutValue } from "../coordinator/without-value.ts";
import type { CompletionPoint } from "../hashing/payload-hash.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import type { Hold, SessionOptions } from "./hold.ts";
import type { SessionCall } from "./session-call.ts";

/** A completion of a session. A class, as a checkpoint's call is: every shard comes to it. */
export class CompleteCall implements SessionCall<
  IdempotentOutcome<ShardRecord>,
  IdempotentOutcome<void>,
  CompleteError
> {
  readonly #hold: Hold;
  readonly #point: CompletionPoint;
  readonly #options: SessionOptions;

  constructor(hold: Hold, point: CompletionPoint, options: SessionOptions) {
    this.#hold = hold;
    this.#point = point;
    this.#options = options;
  }

  get isLast(): true {
    return true;
  }

  make(): CompleteOperation {
    const { lease } = this.#hold;
    return new CompleteOperation({
      tenant: lease.tenant,
      lease,
      opId: this.#hold.opIdOf(this.#options),
      point: this.#point,
    });
  }

  tell(outcome: IdempotentOutcome<ShardRecord>): IdempotentOutcome<void> {
    return withoutValue(outcome);
  }
}
