import { Epoch } from "@gossip/tso";

export const EPOCH_SIZE = 16;

/**
 * Epochs to bytes and back, with the last one remembered: it changes when the leader does, and taking a 128-bit
 * integer apart or putting it together costs more than the rest of a frame.
 */
export class EpochMemo {
  #epoch: Epoch = Epoch.ZERO;
  // The epoch's four words, the least significant first.
  readonly #words = new Uint32Array(4);

  /** Write sixteen bytes, little endian, into `out` at `offset`. */
  encodeInto(epoch: Epoch, offset: number, out: Buffer): void {
    if (epoch !== this.#epoch) this.#remember(epoch);
    for (let word = 0; word < 4; word++) out.writeUInt32LE(this.#words[word]!, offset + word * 4);
  }

  /** The epoch in the sixteen bytes at `offset`, which the frame must have. */
  decode(frame: Buffer, offset: number): Epoch {
    for (let word = 0; word < 4; word++) {
      if (frame.readUInt32LE(offset + word * 4) === this.#words[word]) continue;
      this.#remember(Epoch.fromWords({ low: frame.readBigUInt64LE(offset), high: frame.readBigUInt64LE(offset + 8) }));
      break;
    }
    return this.#epoch;
  }

  #remember(epoch: Epoch): void {
    this.#epoch = epoch;
    for (let word = 0; word < 4; word++) this.#words[word] = Number((epoch >> BigInt(word * 32)) & 0xffff_ffffn);
  }
}
