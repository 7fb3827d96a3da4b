import type { Redacted } from "@gossip/stdx";
import type { Durability } from "./durability.ts";

/**
 * Why a folder could not be opened as a store. Nothing was written to it, unless it was empty.
 *
 * - `ReadOnlyFolder`  — this process may not write there, or the file system is read-only.
 * - `DiskFull`        — there is no room for even an empty store.
 * - `NewerFormat`     — a later version of this package wrote it. Use that one, or a later.
 * - `NotAStore`       — there is something else in its place.
 * - `Truncated`       — its file is much shorter than it says to be: a copy that was not finished, perhaps.
 * - `OtherDurability` — this process has it open already, with another durability. There is one a process.
 * - `Unavailable`     — anything else; `code` is the name that the system has for it, such as `ENOTDIR`.
 */
export type LmdbOpenError =
  | { readonly kind: "ReadOnlyFolder" }
  | { readonly kind: "DiskFull" }
  | { readonly kind: "NewerFormat"; readonly found: number; readonly supported: number }
  | { readonly kind: "NotAStore" }
  | { readonly kind: "Truncated"; readonly size: number; readonly expected: number }
  | { readonly kind: "OtherDurability"; readonly openWith: Durability }
  | { readonly kind: "Unavailable"; readonly code: string | undefined; readonly cause: Redacted<unknown> };
