import type { ShardRow } from "../data/api-types.ts";
import { shareOf, type KeyWindow } from "./window.ts";

/** A shard of the split tree and its children, as far as they were read. */
export interface TreeNode {
  readonly row: ShardRow;
  readonly children: readonly TreeNode[] | undefined;
  /** Whether there are more children than were read. */
  readonly hasMore: boolean;
}

export interface TreeBox {
  readonly row: ShardRow;
  /** In shares of the width. */
  readonly x: number;
  readonly width: number;
  readonly depth: number;
}

/** A box per shard: its range from left to right, its generation from top to bottom. */
export function layoutTree(roots: readonly TreeNode[], window: KeyWindow): TreeBox[] {
  const boxes: TreeBox[] = [];
  const add = (node: TreeNode, depth: number): void => {
    const x = Math.max(0, shareOf(window, node.row.from));
    const end = Math.min(1, shareOf(window, node.row.to));
    if (end > x) boxes.push({ row: node.row, x, width: end - x, depth });
    for (const child of node.children ?? []) add(child, depth + 1);
  };
  for (const root of roots) add(root, 0);
  return boxes;
}

/** The deepest box at a point. */
export function hitTree(boxes: readonly TreeBox[], x: number, depth: number): TreeBox | undefined {
  return boxes.find((box) => box.depth === depth && x >= box.x && x < box.x + box.width);
}

/** The tree as lines of a list, parents before children. Children are listed if their parent is open. */
export interface TreeLine {
  readonly node: TreeNode;
  readonly depth: number;
  readonly isOpen: boolean;
}

export function treeLines(roots: readonly TreeNode[], isOpen: (shard: string) => boolean, depth = 0): TreeLine[] {
  return roots.flatMap((node) => {
    const open = node.row.children > 0 && isOpen(node.row.shard);
    return [{ node, depth, isOpen: open }, ...(open ? treeLines(node.children ?? [], isOpen, depth + 1) : [])];
  });
}
