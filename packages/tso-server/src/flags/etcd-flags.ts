import { ok, type Result } from "@gossip/stdx";
import type { EtcdDriverOptions } from "../etcd-driver/etcd-driver.ts";
import { readFlagFiles, readPem, usage, type FlagError } from "./flag-files.ts";

/** The command-line flags for etcd. Every setting but the password can be a flag, and every one can be in the URL. */
export interface EtcdFlags {
  /** URLs with commas between them: `http[s]://[USER:PASSWORD@]HOST:PORT[?ca=FILE&cert=FILE&key=FILE…]`. */
  readonly etcd: string;
  readonly etcdUser?: string | undefined;
  readonly etcdPasswordFile?: string | undefined;
  readonly etcdCa?: string | undefined;
  readonly etcdCert?: string | undefined;
  readonly etcdKey?: string | undefined;
  readonly etcdServerName?: string | undefined;
}

/** The variable of the environment that a password is taken from, if there is a user and no other password. */
export const ETCD_PASSWORD_VARIABLE = "GOSSIP_ETCD_PASSWORD";

/** The settings of flags and URL together. Files are still named, not read. */
export interface EtcdSettings extends Readonly<Partial<Record<SettingName, string>>> {
  readonly endpoints: readonly string[];
}

export type EtcdConnection = Pick<EtcdDriverOptions, "endpoints" | "username" | "password" | "tls">;

type SettingName = "user" | "password" | "password-file" | "ca" | "cert" | "key" | "server-name";

/** What a URL may have after its question mark. */
const IN_QUERY: ReadonlySet<string> = new Set<SettingName>(["password-file", "ca", "cert", "key", "server-name"]);

/** Join the flags and the URLs into one list of settings. */
export function parseEtcdFlags(flags: EtcdFlags): Result<EtcdSettings, FlagError> {
  const given: [name: SettingName, value: string | undefined][] = [
    ["user", flags.etcdUser],
    ["password-file", flags.etcdPasswordFile],
    ["ca", flags.etcdCa],
    ["cert", flags.etcdCert],
    ["key", flags.etcdKey],
    ["server-name", flags.etcdServerName],
  ];
  const endpoints: string[] = [];
  for (const text of flags.etcd.split(",").map((part) => part.trim())) {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || !/^https?:$/.test(url.protocol) || url.pathname !== "/" || url.hash !== "")
      return usage("--etcd is not a list of URLs: write http://HOST:2379, with commas between several.");
    endpoints.push(`${url.protocol}//${url.host}`);
    const login = loginOf(url);
    if (login === undefined)
      return usage("the user and password in --etcd cannot be read: write special characters as %XX.");
    given.push(...login);
    for (const [name, value] of url.searchParams) {
      if (!IN_QUERY.has(name))
        return usage(
          `a URL of --etcd has an unknown setting: use ${[...IN_QUERY].join(", ")} after the question mark.`,
        );
      given.push([name as SettingName, value]);
    }
  }
  const settings: Partial<Record<SettingName, string>> = {};
  for (const [name, value] of given) {
    if (value === undefined) continue;
    if (value === "") return usage(`the ${name} of etcd is empty: leave it out, or give it.`);
    if ((settings[name] ?? value) !== value)
      return usage(`the ${name} of etcd is given twice, and differs: give it once.`);
    settings[name] = value;
  }
  if (settings.password !== undefined && settings["password-file"] !== undefined)
    return usage("etcd's password is in a URL and in a file: give it once.");
  if (settings.user === undefined && (settings.password ?? settings["password-file"]) !== undefined)
    return usage("etcd has a password and no user: add --etcd-user NAME.");
  if ((settings.cert === undefined) !== (settings.key === undefined))
    return usage(
      "a client certificate of etcd needs its key, and a key its certificate: give --etcd-cert and --etcd-key.",
    );
  return ok({ endpoints, ...settings });
}

/** Read the files that the settings name, from `cwd`, and the password from the environment if it is nowhere else. */
export async function readEtcdSettings(
  settings: EtcdSettings,
  { env, cwd }: { readonly env: NodeJS.ProcessEnv; readonly cwd: string },
): Promise<Result<EtcdConnection, FlagError>> {
  const pem = await readPem(settings, { cwd, flag: (name) => `--etcd-${name}` });
  if (!pem.ok) return pem;
  const passwords = { "password-file": settings["password-file"] };
  const secret = await readFlagFiles(passwords, { cwd, flag: (name) => `--etcd-${name}` });
  if (!secret.ok) return secret;
  const { user: username } = settings;
  const password =
    settings.password ?? secret.value["password-file"]?.replace(/\r?\n$/, "") ?? env[ETCD_PASSWORD_VARIABLE];
  if (username !== undefined && password === undefined)
    return usage(`etcd has a user and no password: give --etcd-password-file FILE, or set ${ETCD_PASSWORD_VARIABLE}.`);
  const tls = {
    ...pem.value,
    ...(settings["server-name"] !== undefined && { serverName: settings["server-name"] }),
  };
  return ok({
    endpoints: settings.endpoints,
    tls,
    ...(username !== undefined && password !== undefined && { username, password }),
  });
}

function loginOf({ username, password }: URL): [SettingName, string][] | undefined {
  try {
    return [
      ...(username === "" ? [] : [["user", decodeURIComponent(username)] as [SettingName, string]]),
      ...(password === "" ? [] : [["password", decodeURIComponent(password)] as [SettingName, string]]),
    ];
  } catch {
    return undefined;
  }
}
