import type { ShardId } from "@gossip/contracts";
import { HALVES, HIGH, LOW, WHOLE } from "@gossip/stdx/internal";

/**
 * Where a shard is in the claim index: 32 bits, far apart for ids that are close.
 *
 * Workers start searching at different spreads, and find shards of all parts of the run. The value is stored, so it never changes.
 */
export function claimSpread(shard: ShardId): number {
  // The finishing step of SplitMix64: every bit of the id changes half of the bits of the result.
  WHOLE[0] = shard;
  shiftMix(30);
  multiply(0xbf58_476d, 0x1ce4_e5b9);
  shiftMix(27);
  multiply(0x94d0_49bb, 0x1331_11eb);
  shiftMix(31);
  return HALVES[HIGH]!;
}

/** `whole ^= whole >> by`, for less than 32. */
function shiftMix(by: number): void {
  const [low, high] = [HALVES[LOW]!, HALVES[HIGH]!];
  HALVES[LOW] = low ^ ((low >>> by) | (high << (32 - by)));
  HALVES[HIGH] = high ^ (high >>> by);
}

/** `whole *= factor`, of which 64 bits are kept. */
function multiply(factorHigh: number, factorLow: number): void {
  const [low, high] = [HALVES[LOW]!, HALVES[HIGH]!];
  HALVES[LOW] = Math.imul(low, factorLow);
  HALVES[HIGH] = highOf(low, factorLow) + Math.imul(high, factorLow) + Math.imul(low, factorHigh);
}

/** The upper half of what two numbers of 32 bits make. */
function highOf(a: number, b: number): number {
  const [a0, a1, b0, b1] = [a & 0xffff, a >>> 16, b & 0xffff, b >>> 16];
  const middle = a1 * b0 + ((a0 * b0) >>> 16);
  const carried = a0 * b1 + (middle % 0x1_0000);
  return a1 * b1 + Math.floor(middle / 0x1_0000) + Math.floor(carried / 0x1_0000);
}
