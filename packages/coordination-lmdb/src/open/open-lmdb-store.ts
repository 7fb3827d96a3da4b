import { mkdir, realpath } from "node:fs/promises";
import { assert, assertCount, err, InvariantViolation, ok, Redacted, type Result } from "@gossip/stdx";
import { checkFolder } from "./check-folder.ts";
import { isDurability, type Durability } from "./durability.ts";
import { checkFormat } from "./format.ts";
import { codeOf, isCorruption } from "../engine/engine-codes.ts";
import { isDiskFull, reasonOf } from "../engine/lmdb-failure.ts";
import type { LmdbOpenError } from "./lmdb-open-error.ts";
import { LmdbStore } from "../lmdb-store.ts";
import { flush, openDatabase, type LmdbDatabase } from "../engine/open-database.ts";
import type { OpenGate } from "../engine/gate/open-gate.ts";
import { OpenFolders } from "./open-folders.ts";
import { makeGate } from "./make-gate.ts";
import { countStatuses } from "../read/progress.ts";
import { Rows } from "../engine/rows.ts";
import { syncFolders } from "./sync-folders.ts";
import { beginCounting } from "../write/status-counts.ts";

export interface LmdbStoreOptions {
  /** The folder. It is created if it does not exist. */
  readonly path: string;
  /** When a write counts as committed; `"Flushed"` by default. */
  readonly durability?: Durability;
  /**
   * Maximum size of the records and indexes in bytes; unlimited by default. A write that would exceed it is refused.
   * Several processes that write at the same time may exceed it a little.
   */
  readonly maxSize?: number;
}

const openFolders = new OpenFolders();

/** Opens a folder as a store. The processes of one machine may share it. It must not be on a network share. */
export async function openLmdbStore(options: LmdbStoreOptions): Promise<Result<LmdbStore, LmdbOpenError>> {
  assertOptions(options);
  const { durability = "Flushed", maxSize } = options;
  try {
    const firstMade = await mkdir(options.path, { recursive: true });
    const folder = await realpath(options.path);
    const openWith = openFolders.enter(folder, durability);
    if (openWith !== durability) return err({ kind: "OtherDurability", openWith });
    const opened = await openFolders.inTurn(folder, () => openFolder(folder, durability));
    if (!opened.ok) {
      await openFolders.leave(folder);
      return opened;
    }
    const { db, rows } = opened.value;
    if (durability !== "Written") await syncFolders(folder, firstMade);
    const release = async () => {
      if (durability === "Written") await flush(db);
      await db.close();
      await openFolders.leave(folder);
    };
    return ok(new LmdbStore({ rows, folder, maxSize, release }));
  } catch (thrown) {
    return err(await openErrorFrom(thrown, options.path));
  }
}

interface OpenFolder {
  readonly db: LmdbDatabase;
  readonly rows: Rows;
}

async function openFolder(folder: string, durability: Durability): Promise<Result<OpenFolder, LmdbOpenError>> {
  let db: LmdbDatabase | undefined;
  try {
    const checked = await checkFolder(folder);
    if (!checked.ok) return checked;
    const gated = await gateOf(folder);
    if (!gated.ok) return gated;
    const gate = gated.value;
    db = await gate.openAlone(() => openDatabase(folder, durability));
    const rows = new Rows(db, gate);
    const understood = await checkFormat(rows);
    if (understood.ok) {
      await beginCounting(rows, (address) => countStatuses(rows, address));
      return ok({ db, rows });
    }
    await db.close();
    return understood;
  } catch (thrown) {
    if (thrown instanceof InvariantViolation) throw thrown;
    const error = await openErrorFrom(thrown, folder);
    await db?.close();
    return err(error);
  }
}

async function gateOf(folder: string): Promise<Result<OpenGate, LmdbOpenError>> {
  const known = openFolders.gateOf(folder);
  if (known !== undefined) return ok(known);
  const made = await makeGate(folder);
  if (made.ok) openFolders.keepGate(folder, made.value);
  return made;
}

async function openErrorFrom(thrown: unknown, folder: string): Promise<LmdbOpenError> {
  const cause = await reasonOf(thrown);
  const code = codeOf(cause);
  switch (code) {
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return { kind: "ReadOnlyFolder" };
    case "ENOSPC":
    case "EDQUOT":
      return { kind: "DiskFull" };
    case "MDB_INVALID":
    case "MDB_VERSION_MISMATCH":
      return { kind: "NotAStore" };
    case undefined:
    default:
      if (isCorruption(cause)) return { kind: "StoreDamaged" };
      if (await isDiskFull(folder)) return { kind: "DiskFull" };
      return { kind: "Unavailable", code, cause: new Redacted(cause) };
  }
}

function assertOptions(options: LmdbStoreOptions): void {
  assert(
    typeof options === "object" && options !== null,
    () => `lmdb store options must be an object, got ${typeof options}`,
  );
  const { path, durability, maxSize } = options;
  assert(typeof path === "string" && path.length > 0, "path of the store must be a text that is not empty");
  assert(!path.includes("\0"), "path of the store must not hold a zero byte");
  assert(durability === undefined || isDurability(durability), "durability must be Flushed, DataFlushed or Written");
  if (maxSize !== undefined) assertCount(maxSize, "max size in bytes", { min: 1, max: Number.MAX_SAFE_INTEGER });
}
