import { MAX_KEY_SIZE } from "@gossip/contracts";
import { assert } from "@gossip/stdx";
import { ScratchBuf } from "./scratch-buf.ts";

/**
 * Reusable storage for one key.
 *
 * It holds one byte more than a key may have, so that an encoding that is one byte too long can still be measured and
 * refused.
 */
export class KeyBuf extends ScratchBuf {
  static readonly CAPACITY: number = MAX_KEY_SIZE + 1;

  constructor() {
    super(KeyBuf.CAPACITY);
  }
}

/** Assert that a value is a `KeyBuf`. */
export function assertKeyBuf(out: unknown): asserts out is KeyBuf {
  if (!(out instanceof KeyBuf)) assert(false, "out must be a KeyBuf");
}
