import type { ShowKey } from "../run/inspect/key-shower.ts";

/** The start of a shard for people. Empty if nothing can be below it. */
export function showStart(key: Uint8Array, show: ShowKey): string {
  return key.every((byte) => byte === 0) && key.length <= 1 ? "" : show(key);
}

/** Sources end their last shard there if they do not know a last key. */
const LEAST_END_SIZE = 16;

/** The end of a shard for people. Empty if nothing can be at or above it: a source's last key is followed by `ff…`. */
export function showEnd(key: Uint8Array, show: ShowKey): string {
  return key.length >= LEAST_END_SIZE && key.every((byte) => byte === 0xff) ? "" : show(key);
}
