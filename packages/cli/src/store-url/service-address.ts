import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { ok, type Result } from "@gossip/stdx";
import { fail, type CliError } from "../output/cli-error.ts";

/** Where a service is, and how to show it who asks. */
export interface ServiceAddress {
  readonly kind: "service";
  readonly url: string;
  readonly token: string | undefined;
  /** Absolute paths of PEM files. */
  readonly files: TlsPaths;
}

export interface TlsPaths {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** The variable that holds the token of a service. */
export const TOKEN_VARIABLE = "GOSSIP_TOKEN";

const SETTINGS = ["ca", "cert", "key"] as const;
const HOW = "write https://HOST:PORT, or http://127.0.0.1:PORT on this machine";

/** Parse `https://HOST:PORT[/PREFIX][?ca=FILE&cert=FILE&key=FILE]`. */
export function serviceAt(text: string, cwd: string): Result<ServiceAddress, CliError> {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
    return fail("BadCommandLine", `the address of a service in --store cannot be read: ${HOW}.`);
  const url = new URL(text);
  if (url.username !== "" || url.password !== "" || url.hash !== "")
    return fail("BadCommandLine", `a service takes no password in --store: set ${TOKEN_VARIABLE} to a token.`);
  if (url.protocol === "http:" && !isLoopback(url.hostname))
    return fail("BadCommandLine", `without TLS anyone on the way could read the token: ${HOW}.`);
  const files: { -readonly [Name in keyof TlsPaths]: TlsPaths[Name] } = {};
  for (const [name, file] of url.searchParams) {
    const setting = SETTINGS.find((each) => each === name);
    if (setting === undefined || file === "")
      return fail(
        "BadCommandLine",
        `--store has an unknown setting: use ${SETTINGS.join(", ")} after the question mark.`,
      );
    files[setting] = resolve(cwd, file);
  }
  url.search = "";
  return ok({ kind: "service", url: url.toString().replace(/\/$/, ""), token: undefined, files });
}

/** What a command line adds to the address. */
export interface ServiceFlags {
  readonly tokenFile?: string;
  readonly ca?: string;
  readonly tso?: string;
}

/** Add the token and the authority of the command line to an address. */
export function withServiceFlags(
  address: ServiceAddress,
  { tokenFile, ca, tso }: ServiceFlags,
  { env, cwd }: { readonly env: NodeJS.ProcessEnv; readonly cwd: string },
): Result<ServiceAddress, CliError> {
  if (tso !== undefined)
    return fail("BadCommandLine", "--tso does not apply to a service, which has its own clock: leave it out.");
  const files = ca === undefined ? address.files : { ...address.files, ca: resolve(cwd, ca) };
  const token = tokenFile === undefined ? ok(env[TOKEN_VARIABLE] || undefined) : readTokenFile(resolve(cwd, tokenFile));
  if (!token.ok) return token;
  // Anything else could not be sent in a header.
  if (token.value !== undefined && !/^[\x21-\x7e]{1,512}$/.test(token.value))
    return fail(
      "BadCommandLine",
      `${tokenFile === undefined ? TOKEN_VARIABLE : "the file of --token-file"} holds no token: it is one word that starts with gsp_.`,
    );
  return ok({ ...address, files, token: token.value });
}

function readTokenFile(path: string): Result<string, CliError> {
  try {
    return ok(readFileSync(path, "utf8").trim());
  } catch (thrown) {
    const { code = "UNKNOWN" } = thrown as NodeJS.ErrnoException;
    return fail("BadCommandLine", `the file of --token-file cannot be read (${code}): name another.`);
  }
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
