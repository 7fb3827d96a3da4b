import { ParkReason } from "@gossip/contracts";
import { assert } from "@gossip/stdx";

/** Throw it from `process` to have the shard parked at once, with a reason of your own and no retry. */
export class ParkShard extends Error {
  override readonly name = "ParkShard";
  readonly reason: ParkReason;

  constructor(reason: ParkReason, message: string = ParkReason.toWords(reason)) {
    assert(ParkReason.is(reason), "park reason must be one of ParkReason.values");
    super(message);
    this.reason = reason;
  }
}
