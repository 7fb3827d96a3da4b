import { HEADER_SIZE, MAX_FRAME_SIZE } from "./frame.ts";

const NOTHING = Buffer.alloc(0);

/** Finds the frames in a stream that arrives in pieces of any size. */
export class FrameReader {
  #bytes: Buffer = NOTHING;
  #hasMore = false;
  #heldSize = 0;

  /** Whether there are bytes that `read` has not looked at. */
  get hasMore(): boolean {
    return this.#hasMore;
  }

  /** Memory that is held until the bytes that `read` has not looked at are read. */
  get heldSize(): number {
    return this.#hasMore ? this.#heldSize : 0;
  }

  /** `add`, then `read` all of it. */
  push(chunk: Buffer, onFrame: (frame: Buffer) => boolean): boolean {
    this.add(chunk);
    return this.read(Number.POSITIVE_INFINITY, onFrame);
  }

  /** Keep `chunk` until it is read. */
  add(chunk: Buffer): void {
    // Nearly always a chunk holds whole frames, and nothing has to be joined.
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
    this.#heldSize = this.#bytes.length;
    this.#hasMore = this.#heldSize > 0;
  }

  /**
   * Hand at most `most` complete frames to `onFrame`, without their headers. The bytes are only good during the call.
   *
   * Returns `false` if a header announces nothing or more than `MAX_FRAME_SIZE`, or `onFrame` did: the stream is lost.
   */
  read(most: number, onFrame: (frame: Buffer) => boolean): boolean {
    const bytes = this.#bytes;
    let at = 0;
    let left = most;
    while (left > 0 && bytes.length - at >= HEADER_SIZE) {
      const size = bytes.readUInt32LE(at);
      if (size === 0 || size > MAX_FRAME_SIZE) return false;
      const end = at + HEADER_SIZE + size;
      if (end > bytes.length) break;
      if (!onFrame(bytes.subarray(at + HEADER_SIZE, end))) return false;
      at = end;
      left -= 1;
    }
    this.#hasMore = left <= 0 && at < bytes.length;
    if (at === bytes.length) this.#bytes = NOTHING;
    // Part of a frame is copied: what is left of a large chunk must not keep the chunk alive.
    else this.#bytes = this.#hasMore ? bytes.subarray(at) : Buffer.from(bytes.subarray(at));
    return true;
  }
}
