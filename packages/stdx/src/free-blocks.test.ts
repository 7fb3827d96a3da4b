// The heaps decide which free block is taken. Losing one loses its space until the slab is cleared. The model is a
// sorted array.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Block, FreeBlocks } from "./free-blocks.ts";

function blockOf(index: number, size: number): Block {
  return Object.assign(new Block(index), { offset: index, size });
}

describe("FreeBlocks", () => {
  test("gives the smallest that fits, and of several the lowest", () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 20 });
    const steps = fc.array(
      fc.record({ do: fc.constantFrom("insert", "remove", "take"), pick: fc.nat(), size: fc.constantFrom(1, 2, 4, 8) }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(sizes, steps, (sizes, steps) => {
        const free = new FreeBlocks();
        const outside = new Set(sizes.map((size, index) => blockOf(index, size)));
        let inside: Block[] = [];
        for (const step of steps) {
          const pool = step.do === "insert" ? [...outside] : inside;
          const block = pool[step.pick % Math.max(pool.length, 1)];
          let gone: Block | undefined;
          if (step.do === "take") {
            inside.sort((a, b) => a.size - b.size || a.offset - b.offset);
            gone = inside.find(({ size }) => size >= step.size);
            expect(free.takeBestFit(step.size)).toBe(gone);
          } else if (block !== undefined && step.do === "insert") {
            free.insert(block);
            outside.delete(block);
            inside.push(block);
          } else if (block !== undefined) {
            free.remove(block);
            gone = block;
          }
          if (gone !== undefined) {
            inside = inside.filter((other) => other !== gone);
            outside.add(gone);
          }
          expect(inside.every(({ isFree }) => isFree)).toBe(true);
          expect([...outside].every(({ isFree }) => !isFree)).toBe(true);
          const largest = Math.max(0, ...inside.map(({ size }) => size));
          expect(free.largestClass()).toBe(largest === 0 ? 0 : 2 ** Math.floor(Math.log2(largest)));
        }
        free.clear();
        expect([free.takeBestFit(1), free.largestClass()]).toEqual([undefined, 0]);
      }),
      { numRuns: 300 },
    );
  });

  test("keeps blocks of the largest size that a slab can have", () => {
    const free = new FreeBlocks();
    const largest = blockOf(0, 2 ** 32 - 16);
    free.insert(largest);

    expect(free.largestClass()).toBe(2 ** 31);
    expect(free.takeBestFit(2 ** 31)).toBe(largest);
  });
});
