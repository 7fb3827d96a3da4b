import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { compareBytes } from "@gossip/stdx";

/** A temporary folder with these files. Names are byte strings, one character a byte. */
export interface TemporaryTree {
  readonly root: string;
  write(path: string): void;
  /** What `find -type f` prints, in byte order. */
  paths(): readonly string[];
  keys(): readonly Uint8Array[];
  /** Open handles of this process below this folder. */
  openHandleCount(): number;
  dispose(): void;
}

export function makeTree(paths: readonly string[] = []): TemporaryTree {
  const root = mkdtempSync(join(tmpdir(), "gossip-tree-"));
  const tree: TemporaryTree = {
    root,
    write(path) {
      const folder = dirname(path);
      if (folder !== ".") mkdirSync(inTree(root, folder), { recursive: true });
      writeFileSync(inTree(root, path), "");
    },
    paths: () => tree.keys().map((key) => Buffer.from(key).toString("latin1")),
    keys: () =>
      filesBelow(Buffer.from(root))
        .map((path) => new Uint8Array(path.subarray(root.length + 1)))
        .sort(compareBytes),
    openHandleCount: () => openHandlesIn(root),
    dispose: () => rmSync(root, { recursive: true, force: true }),
  };
  for (const path of paths) tree.write(path);
  return tree;
}

/** Names in our strings are byte strings, one character a byte. */
export function inTree(root: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, "latin1")]);
}

function filesBelow(folder: Buffer): Buffer[] {
  return readdirSync(folder, { withFileTypes: true, encoding: "buffer" }).flatMap((entry) => {
    const path = Buffer.concat([folder, Buffer.from("/"), entry.name]);
    if (entry.isDirectory()) return filesBelow(path);
    return entry.isFile() ? [path] : [];
  });
}

export function openHandlesIn(root: string): number {
  return readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(root);
    } catch {
      return false;
    }
  }).length;
}
