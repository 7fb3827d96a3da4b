// The plan judges a tree by its upper levels, and one deep folder can hold nearly everything. The count must see it.
import { expect, test } from "vitest";
import type { WorkEstimate } from "../work-estimate.ts";
import { fileTreeSource } from "./file-tree-source.ts";
import { makeTree } from "./temporary-tree.fixture.ts";

test("a skewed tree is counted exactly, and its deep folder has narrow spans", async () => {
  const paths = [
    ...Array.from({ length: 40 }, (_, index) => `folder-${index}/readme`),
    ...Array.from({ length: 3000 }, (_, index) => `m/deep/er/file-${index}`),
  ];
  const tree = makeTree(paths);
  try {
    const estimates: WorkEstimate[] = [];
    const { signal } = new AbortController();
    for await (const estimate of fileTreeSource({ root: tree.root }).estimate!({ signal })) estimates.push(estimate);
    const { spans } = estimates.at(-1)!;
    expect(spans.reduce((sum, { items }) => sum + items, 0)).toBe(3040);
    const deep = spans.filter(({ start }) => Buffer.from(start).toString().startsWith("m/deep/er/"));
    expect(deep.length).toBeGreaterThan(8);
    expect(Math.max(...spans.map(({ items }) => items))).toBeLessThanOrEqual(256);
  } finally {
    tree.dispose();
  }
});
