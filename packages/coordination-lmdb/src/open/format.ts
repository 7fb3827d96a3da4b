import { err, ok, type Result } from "@gossip/stdx";
import { RowKind, storeKey } from "../layout/keyspace.ts";
import type { LmdbOpenError } from "./lmdb-open-error.ts";
import type { Rows } from "../engine/rows.ts";
import { markCounted } from "../write/status-counts.ts";

/**
 * The format of the rows. Raise it with every change that an older version would not understand. Records have versions
 * of their own.
 *
 * - 1: the first.
 * - 2: runs have a census. A version that knows only 1 would create shards without updating it.
 * - 3: runs have notes. A version that knows only 2 would leave the notes of a removed run behind.
 * - 4: runs have status counts. A version that knows only 3 would not update them.
 */
export const FORMAT = 4;

const FORMAT_SIZE = 4;
const FORMAT_KEY = /* @__PURE__ */ storeKey(RowKind.Format);

/** Checks that this version understands the rows. An empty folder, and a store of an older format, get this format. */
export async function checkFormat(rows: Rows): Promise<Result<void, LmdbOpenError>> {
  const judged = judge(rows);
  if (judged !== "writable") return judged;
  // Another process, perhaps of another version, may have written it meanwhile.
  const again = await rows.commit(() => {
    const state = judge(rows);
    if (state !== "writable") return state;
    // An empty folder has no runs to count, and no older version opens it from now on.
    if (!rows.has(FORMAT_KEY)) markCounted(rows);
    rows.put(FORMAT_KEY, formatBytes());
    return state;
  });
  return again === "writable" ? ok() : again;
}

/** `"writable"`: the format is not written yet. */
function judge(rows: Rows): Result<void, LmdbOpenError> | "writable" {
  const value = rows.get(FORMAT_KEY);
  if (value === undefined) {
    const hasOthers = rows.first({ start: Buffer.of(0), end: Buffer.of(0xff, 0xff) }) !== undefined;
    return hasOthers ? err({ kind: "NotAStore" }) : "writable";
  }
  if (value.length !== FORMAT_SIZE) return err({ kind: "NotAStore" });
  const found = new DataView(value.buffer, value.byteOffset, FORMAT_SIZE).getUint32(0);
  if (found > FORMAT) return err({ kind: "NewerFormat", found, supported: FORMAT });
  return found < FORMAT ? "writable" : ok();
}

function formatBytes(): Buffer {
  const bytes = Buffer.alloc(FORMAT_SIZE);
  bytes.writeUInt32BE(FORMAT);
  return bytes;
}
