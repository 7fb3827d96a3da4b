// The lines of `--out`, read back.
import { readFileSync } from "node:fs";

export interface Result {
  readonly ok: boolean;
  readonly status?: number;
  readonly stdout?: string;
  readonly error?: string;
  readonly line?: string;
  readonly offset?: number;
  readonly result?: unknown;
}

/** By path, as latin1 text; throws where a path is there twice. */
export function readResults(out: string): Map<string, Result> {
  const results = new Map<string, Result>();
  for (const line of readFileSync(out, "utf8").split("\n").slice(0, -1)) {
    const { path, path64, ...rest } = JSON.parse(line) as Result & { readonly path?: string; readonly path64?: string };
    const key = (path === undefined ? Buffer.from(path64!, "base64url") : Buffer.from(path)).toString("latin1");
    if (results.has(key)) throw new Error(`twice in the results: ${key}`);
    results.set(key, rest);
  }
  return results;
}
