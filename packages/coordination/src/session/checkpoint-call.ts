import type { Cursor } from "@gossip/contracts";
import type { CheckpointError, IdempotentOutcome } from "@gossip/coordination-errors";
import { assert } from "@gossip/stdx";
import { CheckpointOperation } from "../coordinator/checkpoint-operation.ts";
import type { CheckpointResult } from "../coordinator/shard-operations.ts";
import type { CheckpointOutcome } from "../kernel/checkpoint.ts";
import { optionsOf, type Hold, type SessionOptions } from "./hold.ts";
import type { SessionCall } from "./session-call.ts";

export interface CheckpointOptions extends SessionOptions {
  /** Also move the lease's deadline. */
  readonly renew?: boolean;
}

/** A checkpoint of a session. A class: there are so many of them that the functions made for each would count. */
export class CheckpointCall implements SessionCall<
  IdempotentOutcome<CheckpointOutcome>,
  IdempotentOutcome<CheckpointResult>,
  CheckpointError
> {
  readonly #hold: Hold;
  readonly #cursor: Cursor;
  readonly #options: CheckpointOptions;

  constructor(hold: Hold, cursor: Cursor, options: CheckpointOptions) {
    this.#hold = hold;
    this.#cursor = cursor;
    this.#options = options;
  }

  make(): CheckpointOperation {
    const { lease } = this.#hold;
    return new CheckpointOperation({
      tenant: lease.tenant,
      lease,
      opId: this.#hold.opIdOf(this.#options),
      cursor: this.#cursor,
      renew: isRenewal(this.#options),
    });
  }

  tell({ kind, value }: IdempotentOutcome<CheckpointOutcome>): IdempotentOutcome<CheckpointResult> {
    const { lease, shard, capacity } = this.#hold;
    // A replay moves no deadline, but the first execution may have.
    const isUnsaid = kind === "Replayed" && isRenewal(this.#options) && shard.lease !== undefined;
    return { kind, value: { newDeadline: isUnsaid ? lease.deadline : value.newDeadline, capacity } };
  }
}

function isRenewal(options: CheckpointOptions): boolean {
  const { renew = false } = optionsOf(options);
  assert(typeof renew === "boolean", () => `renew must be true or false, got ${typeof renew}`);
  return renew;
}
