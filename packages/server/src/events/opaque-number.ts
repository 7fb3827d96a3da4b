import { assert } from "@gossip/stdx";
import { createCipheriv, createDecipheriv } from "node:crypto";

const BLOCK_SIZE = 16;
const NUMBER_AT = 8;
const FORM = /^[A-Za-z0-9_-]{22}$/;

/**
 * Writes numbers as texts that only the holder of the key can read.
 *
 * A reader of one tenant's events gets a number with each. Plain, they would count what all tenants do.
 */
export class OpaqueNumbers {
  static readonly KEY_SIZE: number = BLOCK_SIZE;
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    assert(key.length === BLOCK_SIZE, () => `the key must have ${BLOCK_SIZE} bytes, got ${key.length}`);
    this.#key = key;
  }

  write(number: number): string {
    // One block, so the mode does not matter. Eight bytes of zero tell a text of ours from others.
    const block = Buffer.alloc(BLOCK_SIZE);
    block.writeBigUInt64BE(BigInt(number), NUMBER_AT);
    return createCipheriv("aes-128-ecb", this.#key, null).setAutoPadding(false).update(block).toString("base64url");
  }

  /** `undefined` if the text was not written with this key. */
  tryRead(text: string): number | undefined {
    if (!FORM.test(text)) return undefined;
    const decipher = createDecipheriv("aes-128-ecb", this.#key, null).setAutoPadding(false);
    const block = decipher.update(Buffer.from(text, "base64url"));
    return block.readBigUInt64BE(0) === 0n ? Number(block.readBigUInt64BE(NUMBER_AT)) : undefined;
  }
}
