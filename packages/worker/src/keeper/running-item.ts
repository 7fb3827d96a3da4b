import { MAX_KEY_SIZE } from "@gossip/contracts";
import { assert } from "@gossip/stdx";

const SIZE = 4 + MAX_KEY_SIZE;

/**
 * The key of the item that was started last, in memory shared by the threads of a process.
 *
 * The main loop writes it before every call of `process`. Another thread reads it only while the main loop is blocked,
 * when it cannot change.
 */
export class RunningItem {
  readonly buffer: SharedArrayBuffer;
  readonly #size: Int32Array<SharedArrayBuffer>;
  readonly #key: Uint8Array<SharedArrayBuffer>;

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(SIZE)) {
    assert(buffer.byteLength === SIZE, "the running item has a size and a key");
    this.buffer = buffer;
    this.#size = new Int32Array(buffer, 0, 1);
    this.#key = new Uint8Array(buffer, 4);
  }

  /** Hot: called for every item. */
  set(key: Uint8Array): void {
    this.#key.set(key);
    Atomics.store(this.#size, 0, key.length);
  }

  /** A copy of the key. `undefined` before the first item. */
  get key(): Uint8Array | undefined {
    const size = Atomics.load(this.#size, 0);
    return size === 0 ? undefined : Uint8Array.from(this.#key.subarray(0, size));
  }
}
