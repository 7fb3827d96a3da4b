import { assert, err, ok, type Brand, type Result } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { EPOCH_MAX } from "./limits.ts";

/**
 * A term of leadership, as the driver names it: unsigned, 128 bits, totally ordered.
 *
 * The core only compares epochs for equality; the driver must give a later leadership a greater one.
 */
export type Epoch = Brand<bigint, "Epoch">;

/** The two halves of an epoch on a wire. `high` is the more significant, so pairs compare as the epochs do. */
export interface EpochWords {
  readonly high: bigint;
  readonly low: bigint;
}

export interface EpochOutOfRange {
  readonly kind: "EpochOutOfRange";
}

const EPOCH_RULE = "an epoch is a bigint from 0 to 2^128 - 1";
const WORD_MASK = (1n << 64n) - 1n;

export const Epoch = {
  ZERO: 0n as Epoch,
  MAX: EPOCH_MAX as Epoch,

  /** Brand a raw integer. The caller vouches that it is in range. */
  fromRaw(raw: bigint): Epoch {
    assert(isEpoch(raw), EPOCH_RULE);
    return raw as Epoch;
  },

  /** `fromRaw` for an untrusted integer. */
  tryFromRaw(raw: bigint): Result<Epoch, EpochOutOfRange> {
    return isEpoch(raw) ? ok(raw as Epoch) : err({ kind: "EpochOutOfRange" });
  },

  fromWords(words: EpochWords): Epoch {
    assertObject(words, "the halves of an epoch");
    assert(isWord(words.high), "the high half of an epoch is a bigint from 0 to 2^64 - 1");
    assert(isWord(words.low), "the low half of an epoch is a bigint from 0 to 2^64 - 1");
    return ((words.high << 64n) | words.low) as Epoch;
  },

  toWords(epoch: Epoch): EpochWords {
    assert(isEpoch(epoch), EPOCH_RULE);
    return { high: epoch >> 64n, low: epoch & WORD_MASK };
  },
} as const;

function isEpoch(raw: bigint): boolean {
  return typeof raw === "bigint" && raw >= 0n && raw <= EPOCH_MAX;
}

function isWord(word: bigint): boolean {
  return typeof word === "bigint" && word >= 0n && word <= WORD_MASK;
}
