/** A process gets so much work in advance, at most. */
const AHEAD_MS = 20;
const MAX_DEPTH = 256;

/**
 * How many items to send to a process before it has answered the first of them.
 *
 * A process that takes microseconds for an item would otherwise spend its time waiting for the next one. A process that
 * takes seconds gets one item at a time, so that no item waits behind it while another process is idle.
 */
export class Pace {
  #msPerItem: number | undefined;
  #sinceMs = 0;

  /** The number of items. */
  get depth(): number {
    if (this.#msPerItem === undefined) return 1;
    return Math.min(MAX_DEPTH, Math.max(1, Math.round(AHEAD_MS / this.#msPerItem)));
  }

  /** Whether so many items take no longer than what a process gets in advance. */
  isQuick(count: number): boolean {
    return this.#msPerItem !== undefined && this.#msPerItem * count <= AHEAD_MS;
  }

  /** The process had nothing to do, and gets work now. */
  begin(nowMs: number): void {
    this.#sinceMs = nowMs;
  }

  /** So many answers arrived since the last call. */
  answered(count: number, nowMs: number): void {
    const msPerItem = Math.max(0.001, nowMs - this.#sinceMs) / count;
    this.#sinceMs = nowMs;
    // One slow item must not stop the flow, and one fast item must not start it.
    this.#msPerItem = this.#msPerItem === undefined ? msPerItem : (3 * this.#msPerItem + msPerItem) / 4;
  }
}
