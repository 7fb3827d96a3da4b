// The keyspace of the tour: the paths of this repository's own files, in byte order.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { encodeKey, PathKey } from "@gossip/frontier";
import { compareBytes } from "@gossip/stdx";

export const ROOT: string = resolve(import.meta.dirname, "../..");

const FOLDERS = ["docs", "examples", "packages", "tools"];
const SKIPPED = new Set(["node_modules", "dist", ".cache", ".turbo"]);

export interface TourFile {
  readonly path: string;
  readonly key: Uint8Array;
}

export function listFiles(): TourFile[] {
  const files = FOLDERS.flatMap((folder) => walk(folder)).map((path) => ({ path, key: encodeKey(new PathKey(path)) }));
  return files.sort((a, b) => compareBytes(a.key, b.key));
}

export function hashFile(path: string): string {
  return createHash("sha256").update(readFileSync(join(ROOT, path))).digest("hex");
}

function walk(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED.has(entry.name)) return [];
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return walk(path);
    return entry.isFile() ? [path] : [];
  });
}
