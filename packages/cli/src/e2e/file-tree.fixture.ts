// A tree of files with the names that real trees have, and what `find` and `sha256sum` say about it.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";

/** Names that break what was not made for them: newlines, quotes, spaces, dashes, bytes that are no text. */
const ODD_NAMES: readonly Buffer[] = [
  Buffer.from("with space"),
  Buffer.from("new\nline"),
  Buffer.from("quote'and\"both"),
  Buffer.from("-n --help"),
  Buffer.from("$(touch pwned) `id` ;&|*?"),
  Buffer.from("back\\slash\\n"),
  Buffer.from("tab\tand\x01control\x1b[31m"),
  Buffer.from([0xff, 0xfe, 0x80, 0x2d, 0xc3, 0x28]),
  Buffer.from("ünïcödé-日本語"),
  Buffer.from("{}"),
];

const FILES_A_FOLDER = 200;

/** `count` files below `root`, the odd ones among them. */
export function makeTree(root: string, count: number): void {
  mkdirSync(root, { recursive: true });
  for (const [index, name] of ODD_NAMES.entries())
    writeFileSync(Buffer.concat([Buffer.from(`${root}/`), name]), `odd ${index}`);
  for (let index = ODD_NAMES.length; index < count; index++) {
    if (index % FILES_A_FOLDER === 0 || index === ODD_NAMES.length)
      mkdirSync(`${root}/${folderOf(index)}`, { recursive: true });
    writeFileSync(`${root}/${folderOf(index)}/f${index}`, `content of ${index}`);
  }
}

function folderOf(index: number): string {
  return `d${Math.floor(index / FILES_A_FOLDER)}`;
}

/** Sums by path, as latin1 text so that every byte counts. */
export function expectedSums(root: string): Map<string, string> {
  const listed = spawnSync("sh", ["-c", 'find "$1" -type f -print0 | xargs -0 sha256sum --zero --', "sh", root], {
    encoding: "latin1",
    maxBuffer: 2 ** 30,
  });
  if (listed.status !== 0) throw new Error(`find failed: ${listed.stderr}`);
  const sums = new Map<string, string>();
  for (const line of listed.stdout.split("\0").slice(0, -1)) sums.set(line.slice(66), line.slice(0, 64));
  return sums;
}
