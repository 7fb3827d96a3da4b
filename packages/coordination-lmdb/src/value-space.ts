import type { UpdateShardSet } from "@gossip/coordination";
import { encodeShardRecordInto, RecordWriter } from "@gossip/coordination-codec/internal";

/**
 * Where the records of a commit are encoded to, one behind the other.
 *
 * Kept from commit to commit, so that none copies its values into memory that is new. Nor are the views of them made anew: records
 * that go on mostly have the size that they had before, and so the same places, and a view takes as much memory as all else that is made to put
 * a record down.
 */
export class ValueSpace {
  readonly #writer = new RecordWriter();
  readonly #views: Uint8Array[] = [];
  #memory: ArrayBufferLike | undefined;

  /**
   * Encode the records of updates, and give a view of each, by its index; behind them may be others. Good until the next call, which must
   * wait until the driver, which reads in another thread, is done. A record that cannot be stored throws.
   */
  encode(sets: readonly UpdateShardSet[]): readonly Uint8Array[] {
    this.#writer.reset();
    const ends: number[] = [];
    for (const { shard } of sets) {
      encodeShardRecordInto(shard.after, this.#writer);
      ends.push(this.#writer.length);
    }
    this.#cut(this.#writer.view(), ends);
    return this.#views;
  }

  #cut(all: Uint8Array, ends: readonly number[]): void {
    // The memory is another when it had to grow, or has grown too large to be kept.
    if (all.buffer !== this.#memory) this.#views.length = 0;
    this.#memory = all.buffer;
    let start = 0;
    for (let index = 0; index < ends.length; index++) {
      const end = ends[index]!;
      const view = this.#views[index];
      if (view === undefined || view.byteOffset !== all.byteOffset + start || view.length !== end - start)
        this.#views[index] = all.subarray(start, end);
      start = end;
    }
  }
}
