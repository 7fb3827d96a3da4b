import { HEADER_SIZE, MAX_FRAME_SIZE } from "./frame.ts";

const NOTHING = Buffer.alloc(0);

/** Finds the frames in a stream that arrives in pieces of any size. */
export class FrameReader {
  #rest: Buffer = NOTHING;

  /**
   * Hand every frame that is now complete to `onFrame`, without its header. The bytes are only good during the call.
   *
   * Returns `false` if a header announces nothing or more than `MAX_FRAME_SIZE`, or `onFrame` did: the stream is lost.
   */
  push(chunk: Buffer, onFrame: (frame: Buffer) => boolean): boolean {
    // Nearly always a chunk holds whole frames, and nothing has to be joined.
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (bytes.length - at >= HEADER_SIZE) {
      const size = bytes.readUInt32LE(at);
      if (size === 0 || size > MAX_FRAME_SIZE) return false;
      const end = at + HEADER_SIZE + size;
      if (end > bytes.length) break;
      if (!onFrame(bytes.subarray(at + HEADER_SIZE, end))) return false;
      at = end;
    }
    // A copy: what is left of a large chunk must not keep the chunk alive.
    this.#rest = at === bytes.length ? NOTHING : Buffer.from(bytes.subarray(at));
    return true;
  }
}
