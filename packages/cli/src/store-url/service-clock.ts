import { performance } from "node:perf_hooks";
import { LogicalTime, type Clock } from "@gossip/contracts";

/** How long a measured difference is used before it is measured again. */
const REFRESH_MS = 60_000;

export interface ServiceClockOptions {
  /** Asks the service for its time. `undefined` if it does not answer. */
  readonly ask: () => Promise<number | undefined>;
  /** The first answer. */
  readonly firstMs: number;
}

/**
 * The clock of a service, as a command shows it: leases are measured in it. Between two requests it goes on with this
 * machine's monotonic clock, also while the service cannot be reached.
 */
export class ServiceClock implements Clock {
  readonly #ask: ServiceClockOptions["ask"];
  #leadMs: number;
  #measuredMs: number;

  constructor({ ask, firstMs }: ServiceClockOptions) {
    this.#ask = ask;
    this.#measuredMs = performance.now();
    this.#leadMs = firstMs - this.#measuredMs;
  }

  async now(): Promise<LogicalTime> {
    if (performance.now() - this.#measuredMs > REFRESH_MS) await this.#measure();
    return LogicalTime.fromRaw(BigInt(Math.max(1, Math.round(performance.now() + this.#leadMs))));
  }

  async #measure(): Promise<void> {
    this.#measuredMs = performance.now();
    const nowMs = await this.#ask();
    if (nowMs !== undefined) this.#leadMs = nowMs - performance.now();
  }
}
