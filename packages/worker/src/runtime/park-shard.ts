import { ParkReason } from "@gossip/contracts";
import { assert } from "@gossip/stdx";

/** Throw this from `process` to park the shard at once with the given reason, without retries. */
export class ParkShard extends Error {
  override readonly name = "ParkShard";
  readonly reason: ParkReason;

  constructor(reason: ParkReason, message: string = ParkReason.toWords(reason)) {
    assert(ParkReason.is(reason), "park reason must be one of ParkReason.values");
    super(message);
    this.reason = reason;
  }
}
