import { realpath } from "node:fs/promises";
import { assert, assertCount, err, Redacted, type Result } from "@gossip/stdx";
import { checkFolder } from "../open/check-folder.ts";
import { codeOf } from "../engine/engine-codes.ts";
import type { LmdbOpenError } from "../open/lmdb-open-error.ts";
import { STALL_MS, walkInChild } from "./walk-in-child.ts";

export interface VerifyOptions {
  /** The folder of a store. */
  readonly path: string;
  /** How long the check may make no progress before the store counts as damaged; 30 s by default. */
  readonly stallMs?: number;
}

/**
 * Checks that the engine can read the whole file of a store.
 *
 * Opening a store checks only the pages that opening reads. If the file is damaged elsewhere, the engine may end the
 * process that reads it, or never return. So this reads everything in a process of its own, and returns `StoreDamaged`
 * unless that succeeds. It takes the start of a process, and a second for a million rows. It writes no rows, and other
 * processes wait with their commits only while it opens the store.
 */
export async function verifyLmdbFolder({
  path,
  stallMs = STALL_MS,
}: VerifyOptions): Promise<Result<void, LmdbOpenError>> {
  assert(typeof path === "string" && path.length > 0, "path of the store must be a text that is not empty");
  assertCount(stallMs, "stall in milliseconds", { min: 1, max: 2 ** 31 - 1 });
  try {
    const folder = await realpath(path);
    const checked = await checkFolder(folder);
    if (!checked.ok) return checked;
    return checked.value === "Empty" ? err({ kind: "NotAStore" }) : await walkInChild(folder, stallMs);
  } catch (cause) {
    return err({ kind: "Unavailable", code: codeOf(cause), cause: new Redacted(cause) });
  }
}
