// Programs that pages of the guide call and that a machine may not have.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { skippedFor } from "../engines/index.ts";

/** By the name of the program, the Debian package that has it. */
const PACKAGES: Readonly<Record<string, string>> = {
  curl: "curl",
  etcdctl: "etcd-client",
  jq: "jq",
  openssl: "openssl",
  pg_dump: "postgresql",
};

const CALL = /(?<=^|[|&;(]\s*|\bdo |\bthen |\buntil )(curl|etcdctl|jq|openssl|pg_dump)\b/gm;

/** Why the code cannot run on this machine; `undefined` if it can. */
export function missingPrograms(code: string): string | undefined {
  const names = new Set([...code.matchAll(CALL)].map((match) => match[1]!));
  for (const name of names) {
    if (spawnSync(name, [name === "etcdctl" || name === "openssl" ? "version" : "--version"]).error !== undefined)
      return skippedFor(`${name} is not installed (Debian: apt-get install ${PACKAGES[name]})`);
  }
  if (names.has("pg_dump") && postgresOfDump() === undefined)
    return skippedFor("there is no PostgreSQL server of the version of pg_dump (Debian: apt-get install postgresql)");
  return undefined;
}

/** `pg_dump` does not read from a newer server. This is the server of its version, if the code calls it. */
export function postgresFor(code: string): string | undefined {
  return /\bpg_dump\b/.test(code) ? postgresOfDump() : undefined;
}

function postgresOfDump(): string | undefined {
  const version = /(\d+)/.exec(spawnSync("pg_dump", ["--version"], { encoding: "utf8" }).stdout ?? "")?.[1];
  const folder = `/usr/lib/postgresql/${version}`;
  return existsSync(`${folder}/bin/postgres`) ? folder : undefined;
}
