import { assert, assertCount } from "@gossip/stdx";

/** The most leases that a process holds at a time. */
export const MAX_SLOTS = 256;

/**
 * When the leases of a process were last renewed, in memory shared by its threads.
 *
 * ```
 * | beat of the main loop | renewal of slot 0 | renewal of slot 1 | …
 * ```
 *
 * Messages would not work: a blocked loop sends none, and that is exactly when the thread must know for how long it has
 * been blocked. Times come from `sharedNowMs`.
 */
export class LeaseTable {
  readonly buffer: SharedArrayBuffer;
  readonly #times: BigInt64Array<SharedArrayBuffer>;

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(8 * (1 + MAX_SLOTS))) {
    assert(
      buffer.byteLength === 8 * (1 + MAX_SLOTS),
      "a table of leases has a time for the loop and one for each slot",
    );
    this.buffer = buffer;
    this.#times = new BigInt64Array(buffer);
  }

  /** When the main loop last ran. */
  get beatMs(): number {
    return Number(Atomics.load(this.#times, 0));
  }

  beat(nowMs: number): void {
    Atomics.store(this.#times, 0, BigInt(nowMs));
  }

  renewedMs(slot: number): number {
    return Number(Atomics.load(this.#times, indexOf(slot)));
  }

  renewed(slot: number, atMs: number): void {
    Atomics.store(this.#times, indexOf(slot), BigInt(atMs));
  }
}

function indexOf(slot: number): number {
  assertCount(slot, "slot", { min: 0, max: MAX_SLOTS - 1 });
  return 1 + slot;
}
