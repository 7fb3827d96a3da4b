import { MAX_KEY_SIZE } from "@gossip/contracts";
import { compareBytes } from "@gossip/stdx";
import type { ReadBounds } from "../read-bounds.ts";
import { concat } from "./tree.ts";

const SLASH = 0x2f;
/** No path contains this byte, so a key can append more after it. */
const MARK = 0x00;
const MAX_DEPTH = 0xffff;

/**
 * The key of a folder that cannot be read from `at` on.
 *
 * Progress moves to this key, and a later reading after it must know that the folder was reported. A folder that cannot
 * be read at all has its own path as key, `a/b/`, which no file has. If part of the folder was read or belongs to
 * another shard, the key is `at`, a mark, and the number of folders above it, larger ones first.
 */
export function folderProblemKey(prefix: Uint8Array, at: Uint8Array, { from, end }: ReadBounds): Uint8Array {
  const start = compareBytes(at, from) < 0 ? from : at;
  if (compareBytes(start, prefix) <= 0) return prefix;
  const height = MAX_DEPTH - depthOf(prefix);
  const marked = concat(pathIn(start), Uint8Array.of(MARK, height >> 8, height & 0xff));
  const fits =
    marked.length <= MAX_KEY_SIZE &&
    compareBytes(marked, start) >= 0 &&
    (end.length === 0 || compareBytes(marked, end) < 0);
  return fits ? marked : start;
}

/** Whether progress up to `after` includes the report that the folder `prefix` cannot be read. */
export function isReported(prefix: Uint8Array, after: Uint8Array | undefined): boolean {
  if (after === undefined) return false;
  if (compareBytes(after, prefix) === 0) return true;
  const mark = after.indexOf(MARK);
  if (mark === -1 || after.length !== mark + 3) return false;
  const depth = MAX_DEPTH - ((after[mark + 1]! << 8) | after[mark + 2]!);
  return depthOf(prefix) === depth && compareBytes(after.subarray(0, prefix.length), prefix) === 0;
}

/** The part of a key that is a path. */
export function pathIn(key: Uint8Array): Uint8Array {
  const mark = key.indexOf(MARK);
  return mark === -1 ? key : key.subarray(0, mark);
}

function depthOf(prefix: Uint8Array): number {
  let depth = 0;
  for (const byte of prefix) if (byte === SLASH) depth++;
  return depth;
}
