import { assert, assertCount } from "@gossip/stdx";

/** Most leases that a process holds at once. */
export const MAX_SLOTS = 256;

/**
 * When the leases of a process were last renewed, in memory that its threads share.
 *
 * ```
 * | beat of the main loop | renewal of slot 0 | renewal of slot 1 | …
 * ```
 *
 * Messages would not do: a loop that stands still sends none, and that is when the other side must know how
 * long it has been standing. Times are from `sharedNowMs`.
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

  /** When the main loop last had its turn. */
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
