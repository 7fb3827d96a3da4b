import { ok, type Result } from "@gossip/stdx";
import type { ServeOptions } from "../server/oracle-server.ts";
import { hashToken, isToken, isTokenHash } from "../wire/token.ts";
import { readFlagFiles, readPem, usage, type FlagError } from "./flag-files.ts";

/** The command-line flags that protect a server. Each names a file. */
export interface ServerFlags {
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
  /** The authorities whose clients are served. */
  readonly tlsClientCa?: string | undefined;
  /** A token on each line, or its SHA-256 as 64 hex digits; `#` starts a comment line. */
  readonly tokens?: string | undefined;
}

const FLAG: Readonly<Record<string, string>> = { cert: "--tls-cert", key: "--tls-key", ca: "--tls-client-ca" };

/** Read what the flags name, from `cwd`. */
export async function readServerFlags(
  { tlsCert, tlsKey, tlsClientCa, tokens }: ServerFlags,
  { cwd }: { readonly cwd: string },
): Promise<Result<Pick<ServeOptions, "tls" | "tokens">, FlagError>> {
  const flag = (name: string): string => FLAG[name] ?? `--${name}`;
  if (tlsClientCa !== undefined && tlsCert === undefined)
    return usage("--tls-client-ca needs TLS: give --tls-cert and --tls-key, too.");
  const pem = await readPem({ cert: tlsCert, key: tlsKey, ca: tlsClientCa }, { cwd, flag });
  if (!pem.ok) return pem;
  const read = await readFlagFiles({ tokens }, { cwd, flag });
  if (!read.ok) return read;
  const hashes = read.value.tokens === undefined ? undefined : hashLines(read.value.tokens);
  if (hashes === "malformed")
    return usage("a line of --tokens is no token: write 16 to 512 visible ASCII characters, or the SHA-256 of them.");
  const { cert, key, ca } = pem.value;
  return ok({
    ...(cert !== undefined && key !== undefined && { tls: { cert, key, ...(ca !== undefined && { ca }) } }),
    ...(hashes !== undefined && { tokens: hashes }),
  });
}

function hashLines(text: string): string[] | "malformed" {
  const lines = text.split("\n").map((line) => line.trim());
  const tokens = lines.filter((line) => line !== "" && !line.startsWith("#"));
  if (!tokens.every((token) => isToken(token))) return "malformed";
  return tokens.map((token) => (isTokenHash(token) ? token : hashToken(token)));
}
