import type { Result } from "@gossip/stdx";
import type { WindowGrant } from "@gossip/tso";
import type { Counter, Metrics } from "../metrics/metrics.ts";
import type { GetTsError } from "./get-ts-error.ts";

/** The response to a request for timestamps. */
export type Answer = Result<WindowGrant, GetTsError>;

/** Counts every answer once, where it is final. */
export class AnswerTally {
  readonly #requests: Counter;
  readonly #successes: Counter;
  readonly #issued: Counter;
  readonly #notLeader: Counter;
  readonly #runaways: Counter;

  constructor(metrics: Metrics) {
    this.#requests = metrics.counter("tsoracle.get_ts.requests.total");
    this.#successes = metrics.counter("tsoracle.get_ts.success.total");
    this.#issued = metrics.counter("tsoracle.get_ts.timestamps_issued");
    this.#notLeader = metrics.counter("tsoracle.not_leader.total");
    this.#runaways = metrics.counter("tsoracle.clock.runaway.total");
  }

  record(answer: Answer): Answer {
    this.#requests.add();
    if (answer.ok) {
      this.#successes.add();
      this.#issued.add(answer.value.count);
    } else if (answer.error.kind === "NotLeader") {
      this.#notLeader.add();
    } else if (answer.error.kind === "TimeRunaway") {
      this.#runaways.add();
    }
    return answer;
  }
}
