// Offsets and sizes beyond 2^31 are where 32-bit arithmetic turns negative without a sound. A slab that
// large needs gigabytes; its space does not, so the numbers are tested here.

import { describe, expect, test } from "vitest";

import { ByteSlot, type OpenSlot } from "./byte-slot.ts";
import { SlabSpace } from "./slab-space.ts";

const GIB = 2 ** 30;

function openSlot(slot: ByteSlot): OpenSlot {
  return slot as unknown as OpenSlot;
}

describe("SlabSpace of 2^32 - 1 bytes", () => {
  test("keeps offsets, sizes and lengths beyond 2^31 exact", () => {
    const space = new SlabSpace(2 ** 32 - 1);
    const [half, quarter, small] = [new ByteSlot(), new ByteSlot(), new ByteSlot()];

    expect(space.take(2 * GIB, openSlot(half))).toBe(0);
    expect(space.take(GIB - 1, openSlot(quarter))).toBe(2 * GIB);
    expect(space.take(20, openSlot(small))).toBe(3 * GIB);

    expect(half).toMatchObject({ offset: 0, length: 2 * GIB, allocSize: 2 * GIB });
    expect(quarter).toMatchObject({ offset: 2 * GIB, length: GIB - 1, allocSize: GIB });
    expect(small).toMatchObject({ offset: 3 * GIB, length: 20, allocSize: 32 });
    const [, block] = [half, quarter].map((slot) => openSlot(slot).block);
    expect(space.offsetOf(block!)).toBe(2 * GIB);
    expect(space.lengthOf(openSlot(half).block)).toBe(2 * GIB);
    expect(space.isLive(openSlot(half))).toBe(true);
    expect(space.bumpOffset).toBe(3 * GIB + 32);
    expect(space.liveBytes).toBe(3 * GIB + 32);
  });

  test("merges free blocks to more than the largest class, and gives no more than that of it", () => {
    const space = new SlabSpace(2 ** 32 - 1);
    const [half, quarter, small] = [new ByteSlot(), new ByteSlot(), new ByteSlot()];
    for (const [slot, size] of [
      [half, 2 * GIB],
      [quarter, GIB],
      [small, 16],
    ] as const)
      space.take(size, openSlot(slot));

    space.release(openSlot(half).block);
    space.release(openSlot(quarter).block);

    expect(Array.from(space.freeBlocks(), (block) => space.sizeOf(block))).toEqual([3 * GIB]);
    expect(space.refusalFor(2 * GIB)).toBeUndefined();
    expect(space.refusalFor(2 * GIB + 1)).toEqual({ kind: "SlabFull", requested: 2 ** 32 - 1, available: 2 * GIB });
    expect(space.take(2 * GIB + 1, openSlot(half))).toBe(-1);
    expect(space.take(2 * GIB, openSlot(half))).toBe(0);
    expect(Array.from(space.freeBlocks(), (block) => space.sizeOf(block))).toEqual([GIB]);
  });
});

describe("stamps", () => {
  test("do not come back after 2^32 allocations", () => {
    const space = new SlabSpace(16);
    const first = new ByteSlot();
    const later = new ByteSlot();
    space.take(1, openSlot(first));
    // Stands in for the allocations between: the same block, and the low half of the stamp all the way round.
    Object.assign(space, { stampLow: openSlot(first).stampLow - 2 });
    space.release(openSlot(first).block);
    space.take(1, openSlot(later));
    space.release(openSlot(later).block);
    space.take(1, openSlot(later));

    expect(openSlot(later)).toMatchObject({ block: openSlot(first).block, stampLow: openSlot(first).stampLow });
    expect(space.isLive(openSlot(later))).toBe(true);
    expect(space.isLive(openSlot(first))).toBe(false);
  });
});
