import { constants } from "node:os";
import { getSystemErrorMap } from "node:util";

const WORDS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EIO: "the disk cannot be read",
  ENAMETOOLONG: "its path is too long",
  ELOOP: "its path goes through too many links",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open",
};

/** A system error in words for users. */
export function systemWords(thrown: unknown): string {
  const code = codeOf(thrown);
  if (code === undefined) return "unknown reason";
  const words = WORDS[code];
  return words === undefined ? code : `${words} (${code})`;
}

/** The names of the errors that Node has none for, by the number that it gives. */
const UNNAMED: ReadonlyMap<unknown, string> = /* @__PURE__ */ namesUnknownToNode();

/**
 * The code of an error, for example `ENOENT`.
 *
 * For some errors of the system, such as `ESTALE` and `EDQUOT`, Node gives only a number, which differs between
 * platforms. They have their usual name here.
 */
export function codeOf(thrown: unknown): string | undefined {
  if (typeof thrown !== "object" || thrown === null) return undefined;
  const { code, errno } = thrown as { readonly code?: unknown; readonly errno?: unknown };
  return typeof code === "string" ? (UNNAMED.get(errno) ?? code) : undefined;
}

function namesUnknownToNode(): ReadonlyMap<unknown, string> {
  const known = getSystemErrorMap();
  const all = Object.entries(constants.errno).map(([name, errno]) => [-errno, name] as const);
  return new Map(all.filter(([errno]) => !known.has(errno)));
}
