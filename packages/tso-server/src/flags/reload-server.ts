import { ok, type Result } from "@gossip/stdx";
import type { OracleServer } from "../server/oracle-server.ts";
import type { FlagError } from "./flag-files.ts";
import { readServerFlags, type ServerFlags } from "./server-flags.ts";

/** Read the certificates and tokens of a server again. If one of the files cannot be used, nothing changes. */
export async function reloadServer(
  server: OracleServer,
  flags: ServerFlags,
  { cwd }: { readonly cwd: string },
): Promise<Result<void, FlagError>> {
  const security = await readServerFlags(flags, { cwd });
  if (!security.ok) return security;
  const { tls, tokens } = security.value;
  if (tls !== undefined) server.reloadTls(tls);
  if (tokens !== undefined) server.reloadTokens(tokens);
  return ok();
}
