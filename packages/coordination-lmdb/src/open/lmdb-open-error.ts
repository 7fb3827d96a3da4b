import { assert, type Redacted } from "@gossip/stdx";
import type { Durability } from "./durability.ts";

/**
 * Why a folder could not be opened as a store. Nothing was written to it, unless it was empty.
 *
 * - `ReadOnlyFolder`  — this process may not write there, or the file system is read-only.
 * - `DiskFull`        — there is no room for even an empty store.
 * - `NewerFormat`     — a later version of this package wrote it. Use that version or a later one.
 * - `NotAStore`       — the folder contains something else.
 * - `Truncated`       — its file is too short, perhaps an unfinished copy.
 * - `StoreDamaged`    — its file contradicts itself. The disk is bad, or something else wrote to it. Restore a backup.
 * - `GateDamaged`     — a file of its folder `gate` contradicts itself, or is something else. That folder holds no rows: stop
 *   every process that uses the store, and remove it.
 * - `OtherDurability` — this process has it open with another durability. A process can have only one.
 * - `Unavailable`     — anything else; `code` is the code of the system, such as `ENOTDIR`.
 */
export type LmdbOpenError =
  | { readonly kind: "ReadOnlyFolder" }
  | { readonly kind: "DiskFull" }
  | { readonly kind: "NewerFormat"; readonly found: number; readonly supported: number }
  | { readonly kind: "NotAStore" }
  | { readonly kind: "Truncated"; readonly size: number; readonly expected: number }
  | { readonly kind: "StoreDamaged" }
  | { readonly kind: "GateDamaged" }
  | { readonly kind: "OtherDurability"; readonly openWith: Durability }
  | { readonly kind: "Unavailable"; readonly code: string | undefined; readonly cause: Redacted<unknown> };

type Sentences = {
  readonly [K in LmdbOpenError["kind"]]: (error: Extract<LmdbOpenError, { readonly kind: K }>) => string;
};

const SENTENCES: Sentences = {
  ReadOnlyFolder: () => "the folder may not be made or written to; give this user the right to, or use another folder",
  DiskFull: () => "the disk is full; make room, or use a folder on another disk",
  NewerFormat: ({ found, supported }) =>
    `the store has format ${found}, and this version knows up to ${supported}; use the newer version that made it`,
  NotAStore: () => "what is in the folder is no store; use another folder",
  Truncated: ({ size, expected }) =>
    `the store has ${size} bytes of ${expected}; copy it again from where it came, or remove it to start over`,
  StoreDamaged: () =>
    "the file of the store is damaged; check the disk, then put a backup in its place, or remove the folder and run everything again",
  GateDamaged: () =>
    'the folder "gate" of the store, which holds no data, is damaged; stop every process that uses the store, then remove that folder',
  OtherDurability: ({ openWith }) =>
    `this process has the store open already, with durability ${openWith}; open it once, or with the same`,
  Unavailable: ({ code }) => {
    if (code === "ENOTDIR" || code === "EEXIST")
      return "the path is, or lies below, something that is no folder; use another";
    return `the folder cannot be opened (${code ?? "for an unknown reason"}); see that it is on a disk of this machine, and that the disk is well`;
  },
};

/** Describes the error and its remedy in a sentence for people. Contains neither the path nor text of the driver. */
export function lmdbOpenErrorMessage(error: LmdbOpenError): string {
  assert(typeof error === "object" && error !== null, "error must be one of openLmdbStore");
  if (!Object.hasOwn(SENTENCES, error.kind)) return "the store cannot be opened, for an unknown reason";
  return (SENTENCES[error.kind] as (error: LmdbOpenError) => string)(error);
}
