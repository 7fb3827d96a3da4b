import type { UpdateShardSet } from "@gossip/coordination";
import { RecordWriter, type ShardEncoder } from "@gossip/coordination-codec/internal";

/**
 * The encoded records of one commit, kept for the next commit.
 *
 * The driver reads values in another thread, so every commit needs memory of its own until it ends. Allocating it, and a
 * view of each value, for every commit takes 7 to 10 % of the time of a checkpoint of 64 saturated sessions; see decision
 * 0025. Records mostly keep their size, so the views of one commit mostly serve the next.
 */
export class ValueBuffer {
  readonly #writer = new RecordWriter();
  readonly #values: Uint8Array[] = [];
  #memory: ArrayBufferLike | undefined;

  /**
   * Encodes the records that updates leave, and returns a view of each by its index; views of earlier calls may follow. They are valid until the
   * next call, which must wait until the driver has read them. Throws if a record cannot be stored.
   */
  encode(sets: readonly UpdateShardSet[], encoder: ShardEncoder): readonly Uint8Array[] {
    this.#writer.reset();
    const ends: number[] = [];
    for (const { shard } of sets) {
      encoder.encodeInto(shard.before, shard.after, this.#writer);
      ends.push(this.#writer.length);
    }
    this.#cut(this.#writer.view(), ends);
    return this.#values;
  }

  #cut(all: Uint8Array, ends: readonly number[]): void {
    // The writer replaces its memory when it grows, and when it has grown too large to keep.
    if (all.buffer !== this.#memory) this.#values.length = 0;
    this.#memory = all.buffer;
    let start = 0;
    for (let index = 0; index < ends.length; index++) {
      const end = ends[index]!;
      const value = this.#values[index];
      if (value?.byteOffset !== all.byteOffset + start || value.length !== end - start)
        this.#values[index] = all.subarray(start, end);
      start = end;
    }
  }
}
