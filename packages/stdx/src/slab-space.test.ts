// Offsets and sizes beyond 2^31 are where 32-bit arithmetic turns negative without a sound. A slab that
// large needs gigabytes; its space does not, so the numbers are tested here.

import { describe, expect, test } from "vitest";

import { ByteSlot } from "./byte-slot.ts";
import { SlabSpace } from "./slab-space.ts";

const GIB = 2 ** 30;

describe("SlabSpace of 2^32 - 1 bytes", () => {
  test("keeps offsets, sizes and lengths beyond 2^31 exact", () => {
    const space = new SlabSpace(2 ** 32 - 1);
    const [half, quarter, small] = [new ByteSlot(), new ByteSlot(), new ByteSlot()];

    expect(space.take(2 * GIB, half)).toBe(true);
    expect(space.take(GIB - 1, quarter)).toBe(true);
    expect(space.take(20, small)).toBe(true);

    expect(half).toMatchObject({ offset: 0, length: 2 * GIB, allocSize: 2 * GIB });
    expect(quarter).toMatchObject({ offset: 2 * GIB, length: GIB - 1, allocSize: GIB });
    expect(small).toMatchObject({ offset: 3 * GIB, length: 20, allocSize: 32 });
    expect(space.isLive(half)).toBe(true);
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
      space.take(size, slot);

    space.release(half);
    space.release(quarter);

    expect(Array.from(space.freeBlocks(), (block) => block.size)).toEqual([3 * GIB]);
    expect(space.refusalFor(2 * GIB)).toBeUndefined();
    expect(space.refusalFor(2 * GIB + 1)).toEqual({ kind: "SlabFull", requested: 2 ** 32 - 1, available: 2 * GIB });
    expect(space.take(2 * GIB + 1, half)).toBe(false);
    expect(space.take(2 * GIB, half)).toBe(true);
    expect(half).toMatchObject({ offset: 0, allocSize: 2 * GIB });
    expect(Array.from(space.freeBlocks(), (block) => block.size)).toEqual([GIB]);
  });
});

describe("a block that was freed more often than 32 bits count", () => {
  test("is not taken for the same allocation again", () => {
    const space = new SlabSpace(16);
    const [first, later] = [new ByteSlot(), new ByteSlot()];
    space.take(1, first);
    space.release(first);
    // Stands in for the allocations between.
    space["blocks"][first.block]!.generation = 2 ** 32 + first.generation;
    space.take(1, later);

    expect(later).toMatchObject({ block: first.block, generation: 2 ** 32 + first.generation });
    expect(space.isLive(later)).toBe(true);
    expect(space.isLive(first)).toBe(false);
  });
});
