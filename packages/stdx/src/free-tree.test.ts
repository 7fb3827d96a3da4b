// The tree decides which free block is taken. Losing one loses its space until the slab is cleared, and a
// tree that has grown into a list makes every allocation slow. The model is a sorted array.

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { FreeTree } from "./free-tree.ts";

const [OFFSET, SIZE, LEFT, RIGHT, RECORD_SIZE, ROOT] = [0, 1, 5, 6, 8, 5];

/** A tree over blocks whose offset is their number, and whose size is `size(number)`. */
function makeTree(
  blockCount: number,
  size: (index: number) => number,
): { readonly tree: FreeTree; readonly table: Int32Array } {
  const table = new Int32Array((blockCount + 1) * RECORD_SIZE);
  for (let index = 1; index <= blockCount; index++) {
    table[index * RECORD_SIZE + OFFSET] = index;
    table[index * RECORD_SIZE + SIZE] = size(index);
  }
  return { tree: new FreeTree(table), table };
}

/** A node as its block and its subtrees. */
function shapeOf(table: Int32Array, node = table[ROOT]!): unknown {
  return node === 0 ? null : [node, shapeOf(table, table[node + LEFT]!), shapeOf(table, table[node + RIGHT]!)];
}

describe("FreeTree", () => {
  test("takes the smallest that fits, and of several the lowest", () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 20 });
    const steps = fc.array(
      fc.record({ do: fc.constantFrom("insert", "remove", "take"), pick: fc.nat(), size: fc.nat(6) }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(sizes, steps, (sizes, steps) => {
        const { tree } = makeTree(sizes.length, (index) => sizes[index - 1]!);
        const sizeOf = (block: number) => sizes[block / RECORD_SIZE - 1]!;
        const outside = new Set(sizes.map((_, index) => (index + 1) * RECORD_SIZE));
        const inside: number[] = [];
        for (const step of steps) {
          const pool = step.do === "insert" ? [...outside] : inside;
          const block = pool[step.pick % Math.max(pool.length, 1)];
          if (step.do === "take") {
            inside.sort((a, b) => sizeOf(a) - sizeOf(b) || a - b);
            const expected = inside.find((block) => sizeOf(block) >= Math.max(step.size, 1)) ?? 0;
            expect(tree.takeBestFit(Math.max(step.size, 1))).toBe(expected);
            if (expected !== 0) outside.add(...(inside.splice(inside.indexOf(expected), 1) as [number]));
          } else if (block !== undefined && step.do === "insert") {
            tree.insert(block);
            outside.delete(block);
            inside.push(block);
          } else if (block !== undefined) {
            tree.remove(block);
            inside.splice(inside.indexOf(block), 1);
            outside.add(block);
          }
          expect(tree.largestSize()).toBe(Math.max(0, ...inside.map(sizeOf)));
        }
        tree.clear();
        expect([tree.takeBestFit(1), tree.largestSize()]).toEqual([0, 0]);
      }),
      { numRuns: 300 },
    );
  });

  // Whatever the history, so that no history can make it deep.
  test("has the shape that its blocks alone decide", () => {
    const order = fc.uniqueArray(fc.integer({ min: 1, max: 30 }), { minLength: 2, maxLength: 30 });
    fc.assert(
      fc.property(order, fc.nat(30), fc.nat(3), (order, removeCount, spread) => {
        const size = (index: number) => 1 + (index % (spread + 1));
        const [removed, kept] = [order.slice(0, removeCount), order.slice(removeCount)];
        const [traveled, fresh] = [makeTree(31, size), makeTree(31, size)];
        for (const index of order) traveled.tree.insert(index * RECORD_SIZE);
        for (const index of removed) traveled.tree.remove(index * RECORD_SIZE);
        for (const index of kept.toSorted((a, b) => a - b)) fresh.tree.insert(index * RECORD_SIZE);
        // One more, so that the newest of both is the same and all the others are in the trees.
        for (const { tree } of [traveled, fresh]) tree.insert(31 * RECORD_SIZE);

        expect(shapeOf(traveled.table)).toEqual(shapeOf(fresh.table));
      }),
    );
  });

  // Depth is what an operation costs. Orders that make a plain search tree a list must not do so here.
  test.each([
    { order: "rising", size: () => 4 },
    { order: "rising sizes", size: (index: number) => index },
    { order: "falling sizes", size: (index: number) => 100_001 - index },
    { order: "alternating sizes", size: (index: number) => (index % 2 === 0 ? 4 : 8) },
  ])("stays shallow: 100,000 blocks in $order", ({ size }) => {
    const { tree, table } = makeTree(100_000, size);
    for (let index = 1; index <= 100_000; index++) tree.insert(index * RECORD_SIZE);

    let [deepest, total, count] = [0, 0, 0];
    const pending = [{ node: table[ROOT]!, depth: 1 }];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (next.node === 0) continue;
      deepest = Math.max(deepest, next.depth);
      total += next.depth;
      count += 1;
      for (const side of [LEFT, RIGHT]) pending.push({ node: table[next.node + side]!, depth: next.depth + 1 });
    }
    // All but the newest are in the tree. log2 of 100,000 is 17: random treaps have a mean depth of about 21.
    expect(count).toBe(99_999);
    expect(total / count).toBeLessThan(2 * 17);
    expect(deepest).toBeLessThan(4 * 17);
  });
});
