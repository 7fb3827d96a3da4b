import { createHash, timingSafeEqual } from "node:crypto";
import { assert } from "@gossip/stdx";
import { isTokenHash } from "../wire/token.ts";

/** Decides whether a client may ask for timestamps. Without tokens, everyone may. */
export class Access {
  #hashes: readonly Buffer[] | undefined;

  /** `hashes` are what `hashToken` returns. */
  constructor(hashes: readonly string[] | undefined) {
    if (hashes !== undefined) this.#hashes = fromHex(hashes);
  }

  /** Accept other tokens from now on. Does nothing if everyone may ask. */
  replace(hashes: readonly string[]): void {
    const replaced = fromHex(hashes);
    if (this.#hashes !== undefined) this.#hashes = replaced;
  }

  get isOpen(): boolean {
    return this.#hashes === undefined;
  }

  /** Whether a token is one of those that were given. Takes the same time for every token of a length. */
  accepts(token: Uint8Array | string): boolean {
    if (this.#hashes === undefined) return true;
    const hash = createHash("sha256").update(token).digest();
    // All of them, so that the time does not show which one matched.
    return this.#hashes.filter((known) => timingSafeEqual(known, hash)).length > 0;
  }
}

function fromHex(hashes: readonly string[]): Buffer[] {
  assert(
    Array.isArray(hashes) && hashes.every(isTokenHash),
    "tokens are a list of hashes, each 64 lowercase hex digits",
  );
  return hashes.map((hash) => Buffer.from(hash, "hex"));
}
