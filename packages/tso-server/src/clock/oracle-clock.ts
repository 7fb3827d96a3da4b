import { LogicalTime, type Clock } from "@gossip/contracts";
import { Timestamp, type WindowGrant } from "@gossip/tso";
import { assertMethods } from "../assert-input.ts";
import type { ClientError } from "../client/client-error.ts";
import type { TimestampClient } from "../client/timestamp-client.ts";
import type { GetTsError } from "../oracle/get-ts-error.ts";
import type { Oracle } from "../oracle/oracle.ts";

/** The error that a clock rejects with if the oracle grants no time. `refusal` is the reason. */
export class ClockUnavailable extends Error {
  override readonly name = "ClockUnavailable";
  readonly refusal: GetTsError | ClientError;

  constructor(refusal: GetTsError | ClientError) {
    super(`the timestamp oracle has no time to give: ${refusal.kind}`);
    this.refusal = refusal;
  }
}

/**
 * The time of an oracle in this process, in milliseconds, for a coordinator.
 *
 * Every reading costs a timestamp, so that no reading is ever below one that any coordinator of the fleet had before it. It
 * may be equal: a millisecond has many timestamps.
 */
export function oracleClock(oracle: Oracle): Clock {
  assertMethods(oracle, "the oracle of a clock", ["getTs"]);
  return {
    now() {
      const answer = oracle.getTs(1);
      if (!(answer instanceof Promise))
        return answer.ok ? timeOf(answer.value) : Promise.reject(new ClockUnavailable(answer.error));
      return answer.then((later) => {
        if (!later.ok) throw new ClockUnavailable(later.error);
        return timeOf(later.value);
      });
    },
  };
}

/** The same for a coordinator elsewhere: the time of the oracle that a client finds. Readings of one turn share a request. */
export function clientClock(client: TimestampClient): Clock {
  assertMethods(client, "the client of a clock", ["getTs"]);
  return {
    async now() {
      const timestamp = await client.getTs();
      if (!timestamp.ok) throw new ClockUnavailable(timestamp.error);
      return LogicalTime.fromRaw(BigInt(Timestamp.physicalMs(timestamp.value)));
    },
  };
}

/** Never zero, and never the end of time: a floor is at least 1, and 46 bits are less than 64. */
function timeOf(grant: WindowGrant): LogicalTime {
  return LogicalTime.fromRaw(BigInt(grant.physicalMs));
}
