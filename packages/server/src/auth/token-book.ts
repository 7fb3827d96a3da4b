import { ok, type Result } from "@gossip/stdx";
import type { IncomingMessage } from "node:http";
import { stat } from "node:fs/promises";
import type { Authenticate } from "../http/request-handler.ts";
import { Principal } from "./principal.ts";
import { readTokenFile, type TokenFileError } from "./token-file.ts";
import { isTokenLive, isTokenOf, tokenIdOf, type TokenRecord } from "./token.ts";

/** How often the file is looked at: a revoked token ends within a second. */
const LOOK_MS = 400;

interface Entry {
  readonly record: TokenRecord;
  readonly principal: Principal;
}

export interface TokenBookOptions {
  readonly path: string;
  /** Wall clock, for expiry. */
  readonly nowMs: () => number;
  /** Called when the file cannot be read. No token is accepted until it can. */
  readonly onProblem?: (error: TokenFileError) => void;
}

/** The tokens of a file, read again when it changes. */
export class TokenBook {
  readonly #options: TokenBookOptions;
  #entries: ReadonlyMap<string, Entry> = new Map();
  #stamp = "";
  #looking: NodeJS.Timeout | undefined;

  static async open(options: TokenBookOptions): Promise<Result<TokenBook, TokenFileError>> {
    const book = new TokenBook(options);
    const problem = await book.#look();
    if (problem !== undefined) return { ok: false, error: problem };
    book.#looking = setInterval(() => void book.#look(), LOOK_MS);
    book.#looking.unref();
    return ok(book);
  }

  private constructor(options: TokenBookOptions) {
    this.#options = options;
  }

  close(): void {
    clearInterval(this.#looking);
  }

  /** Who sent a request. */
  readonly authenticate: Authenticate = ({ headers }: IncomingMessage) => {
    const [, token = ""] = /^Bearer (\S+)$/i.exec(headers.authorization ?? "") ?? [];
    const entry = this.#entries.get(tokenIdOf(token) ?? "");
    // Compared also if there is none, so that the time tells nothing.
    const isRight = isTokenOf(token, entry?.record);
    return isRight && isTokenLive(entry!.record, this.#options.nowMs()) ? entry!.principal : undefined;
  };

  /** Whether the token that made a principal is in the file, unchanged, and valid. */
  readonly isLive = (principal: Principal): boolean => {
    const entry = this.#entries.get(principal.id);
    return entry?.principal === principal && isTokenLive(entry.record, this.#options.nowMs());
  };

  /** Read the file if it has changed. */
  async #look(): Promise<TokenFileError | undefined> {
    const { path, onProblem = () => {} } = this.#options;
    const stamp = await stampOf(path);
    if (stamp === this.#stamp) return undefined;
    const tokens = await readTokenFile(path);
    this.#stamp = stamp;
    const records = tokens.ok ? tokens.value : [];
    this.#entries = new Map(records.map((record) => [record.id, entryOf(record, this.#entries.get(record.id))]));
    if (tokens.ok) return undefined;
    onProblem(tokens.error);
    return tokens.error;
  }
}

/** An entry that is as it was keeps its principal, so that requests that are open go on. */
function entryOf(record: TokenRecord, before: Entry | undefined): Entry {
  if (before !== undefined && JSON.stringify(before.record) === JSON.stringify(record)) return before;
  const { id, role, tenants } = record;
  return { record, principal: new Principal(id, role, tenants === "*" ? undefined : new Set(tenants)) };
}

async function stampOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs } = await stat(path, { bigint: true });
    return `${ino}.${size}.${mtimeNs}`;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code ?? "UNKNOWN";
  }
}
