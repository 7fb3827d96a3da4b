import { constants } from "node:os";
import { getSystemErrorMap } from "node:util";

/** The error numbers of the engine. Numbers of the operating system are positive. */
const ENGINE_CODES: Readonly<Record<number, string>> = {
  [-30797]: "MDB_PAGE_NOTFOUND",
  [-30796]: "MDB_CORRUPTED",
  [-30795]: "MDB_PANIC",
  [-30794]: "MDB_VERSION_MISMATCH",
  [-30793]: "MDB_INVALID",
  [-30792]: "MDB_MAP_FULL",
  [-30790]: "MDB_READERS_FULL",
  [-30788]: "MDB_TXN_FULL",
  [-30787]: "MDB_CURSOR_FULL",
  [-30782]: "MDB_BAD_TXN",
};

// A cursor is full if the tree is deeper than any tree can be: a page leads back to one above it.
const CORRUPTION_CODES: ReadonlySet<string> = new Set([
  "MDB_PAGE_NOTFOUND",
  "MDB_CORRUPTED",
  "MDB_INVALID",
  "MDB_CURSOR_FULL",
]);

/** The name of an error, if it has one. */
export function codeOf(thrown: unknown): string | undefined {
  const code = typeof thrown === "object" && thrown !== null ? (thrown as { code?: unknown }).code : undefined;
  if (typeof code === "string") return code;
  if (typeof code !== "number") return undefined;
  return ENGINE_CODES[code] ?? (code > 0 ? systemName(code) : String(code));
}

/** Node's name for a number of the system, or the usual one if Node has none, as for `EDQUOT`. */
function systemName(errno: number): string {
  const named = getSystemErrorMap().get(-errno);
  return named?.[0] ?? Object.entries(constants.errno).find(([, number]) => number === errno)?.[0] ?? String(errno);
}

/** Whether an error says that the file contradicts itself. */
export function isCorruption(thrown: unknown): boolean {
  // Reading a row that is too short for its kind throws a RangeError.
  if (thrown instanceof RangeError) return true;
  const code = codeOf(thrown);
  return code !== undefined && CORRUPTION_CODES.has(code);
}
