import { err, ok, type Result } from "@gossip/stdx";
import { open, readFile, rename, rm } from "node:fs/promises";
import { isTokenRecord, type TokenRecord } from "./token.ts";

/** Why the file of tokens cannot be used. */
export type TokenFileError =
  /** Another command is changing it. */
  | { readonly kind: "TokensLocked"; readonly path: string }
  | { readonly kind: "TokensUnreadable"; readonly path: string; readonly code: string }
  | { readonly kind: "NotTokens"; readonly path: string };

/** The version of the file's form. */
const VERSION = 1;

/** Read the tokens. A file that does not exist holds none. */
export async function readTokenFile(path: string): Promise<Result<readonly TokenRecord[], TokenFileError>> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (thrown) {
    const { code = "UNKNOWN" } = thrown as NodeJS.ErrnoException;
    return code === "ENOENT" ? ok([]) : err({ kind: "TokensUnreadable", path, code });
  }
  try {
    const { version, tokens } = JSON.parse(text) as { readonly version?: unknown; readonly tokens?: unknown };
    if (version === VERSION && Array.isArray(tokens) && tokens.every(isTokenRecord)) return ok(tokens);
  } catch {
    // Not JSON: the same answer.
  }
  return err({ kind: "NotTokens", path });
}

/** Change the tokens: all or nothing, one change at a time. The file is readable by its owner only. */
export async function changeTokenFile<T>(
  path: string,
  change: (tokens: readonly TokenRecord[]) => { readonly tokens: readonly TokenRecord[]; readonly result: T },
): Promise<Result<T, TokenFileError>> {
  const next = `${path}.next`;
  try {
    // The new file is also the lock: it can be created once.
    const file = await open(next, "wx", 0o600);
    try {
      const tokens = await readTokenFile(path);
      if (!tokens.ok) return tokens;
      const changed = change(tokens.value);
      await file.writeFile(`${JSON.stringify({ version: VERSION, tokens: changed.tokens }, undefined, 2)}\n`);
      await file.sync();
      await rename(next, path);
      return ok(changed.result);
    } finally {
      await file.close();
      await rm(next, { force: true });
    }
  } catch (thrown) {
    const { code = "UNKNOWN" } = thrown as NodeJS.ErrnoException;
    return err(code === "EEXIST" ? { kind: "TokensLocked", path: next } : { kind: "TokensUnreadable", path, code });
  }
}
