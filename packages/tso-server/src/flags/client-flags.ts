import { ok, type Result } from "@gossip/stdx";
import type { ClientOptions } from "../client/timestamp-client.ts";
import { isToken } from "../wire/token.ts";
import { readPem, usage, type FlagError } from "./flag-files.ts";

/** The variable of the environment that holds a client's token. */
export const TSO_TOKEN_VARIABLE = "GOSSIP_TSO_TOKEN";

const SECURE = "tsos://";
const IN_QUERY: ReadonlySet<string> = new Set(["ca", "cert", "key", "server-name"]);

/**
 * Read `--tso`: `HOST:PORT,…` without TLS, or `tsos://HOST:PORT,…[?ca=FILE&cert=FILE&key=FILE&server-name=NAME]`.
 *
 * Files are relative to `cwd`. The token is in the environment. The endpoints are not checked here.
 */
export async function readTsoFlag(
  text: string,
  { env, cwd }: { readonly env: NodeJS.ProcessEnv; readonly cwd: string },
): Promise<Result<Pick<ClientOptions, "endpoints" | "tls" | "token">, FlagError>> {
  const token = env[TSO_TOKEN_VARIABLE];
  if (token !== undefined && !isToken(token))
    return usage(`${TSO_TOKEN_VARIABLE} is no token: it has 16 to 512 visible ASCII characters.`);
  const [hosts = "", query = ""] = (text.startsWith(SECURE) ? text.slice(SECURE.length) : text).split("?", 2);
  const endpoints = hosts.split(",").map((endpoint) => endpoint.trim());
  const common = { endpoints, ...(token !== undefined && { token }) };
  if (!text.startsWith(SECURE))
    return query === ""
      ? ok(common)
      : usage("only a --tso that begins with tsos:// has settings after a question mark.");
  const settings = new URLSearchParams(query);
  for (const name of settings.keys())
    if (!IN_QUERY.has(name))
      return usage(`--tso has an unknown setting: use ${[...IN_QUERY].join(", ")} after the question mark.`);
  const value = (name: string): string | undefined => settings.get(name) ?? undefined;
  const files = { ca: value("ca"), cert: value("cert"), key: value("key") };
  const pem = await readPem(files, { cwd, flag: (name) => `the setting ${name} of --tso` });
  if (!pem.ok) return pem;
  const serverName = value("server-name");
  return ok({ ...common, tls: { ...pem.value, ...(serverName !== undefined && { serverName }) } });
}
