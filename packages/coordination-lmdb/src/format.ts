import { err, ok, type Result } from "@gossip/stdx";
import { RowKind, storeKey } from "./keyspace.ts";
import type { LmdbOpenError } from "./lmdb-open-error.ts";
import type { Rows } from "./rows.ts";

/** How rows are laid out: raise it with every change that an older version would not understand. Records have versions of their own. */
export const FORMAT = 1;

const FORMAT_SIZE = 4;
const FORMAT_KEY = /* @__PURE__ */ storeKey(RowKind.Format);

/** Look whether the rows are ones that we understand. An empty folder becomes a store of this format. */
export async function checkFormat(rows: Rows): Promise<Result<void, LmdbOpenError>> {
  const judged = judge(rows);
  if (judged !== "empty") return judged;
  // Another process may have been faster, and may be of another version.
  const again = await rows.transact(() => {
    const state = judge(rows);
    if (state === "empty") rows.put(FORMAT_KEY, formatBytes());
    return state;
  });
  return again === "empty" ? ok() : again;
}

function judge(rows: Rows): Result<void, LmdbOpenError> | "empty" {
  const value = rows.get(FORMAT_KEY);
  if (value === undefined) {
    const hasOthers = rows.first({ start: Buffer.of(0), end: Buffer.of(0xff, 0xff) }) !== undefined;
    return hasOthers ? err({ kind: "NotAStore" }) : "empty";
  }
  if (value.length !== FORMAT_SIZE) return err({ kind: "NotAStore" });
  const found = new DataView(value.buffer, value.byteOffset, FORMAT_SIZE).getUint32(0);
  return found > FORMAT ? err({ kind: "NewerFormat", found, supported: FORMAT }) : ok();
}

function formatBytes(): Buffer {
  const bytes = Buffer.alloc(FORMAT_SIZE);
  bytes.writeUInt32BE(FORMAT);
  return bytes;
}
