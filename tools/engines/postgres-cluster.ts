// An empty PostgreSQL cluster. Making one takes a second and a half of processor time, copying one a tenth of that: so it is
// made once, kept below `.cache`, and copied for every server.
import { spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { ROOT } from "../layers/layers.ts";

export const SUPERUSER = "gossip";
export const PASSWORD = "gossip-test";

/** The user that the server runs as; empty if it may run as the current user. */
export interface Identity {
  readonly uid?: number;
  readonly gid?: number;
}

/** Copies the empty cluster of these binaries to `data`, owned by the user that the server runs as. */
export function copyCluster(native: string, data: string, identity: Identity): void {
  const kept = join(ROOT, ".cache/engines", `postgres-${versionOf(native)}-${identity.uid ?? "own"}`);
  if (!existsSync(kept)) keepCluster(native, kept, identity);
  run("cp", ["-a", kept, data]);
}

/** Another process may do the same at the same time. The second one discards its copy. */
function keepCluster(native: string, kept: string, identity: Identity): void {
  // Not below `.cache`: the user that the server runs as may be unable to reach into it.
  const folder = mkdtempSync(join(tmpdir(), "gossip-initdb-"));
  const passwordFile = join(folder, "password");
  writeFileSync(passwordFile, PASSWORD);
  if (identity.uid !== undefined)
    for (const path of [folder, passwordFile]) chownSync(path, identity.uid, identity.gid ?? identity.uid);
  const flags = ["-A", "scram-sha-256", "-E", "UTF8", "--locale=C", "--no-sync", `--pwfile=${passwordFile}`];
  run(join(native, "bin/initdb"), ["-D", join(folder, "data"), "-U", SUPERUSER, ...flags], identity);
  mkdirSync(join(ROOT, ".cache/engines"), { recursive: true });
  const made = `${kept}-${basename(folder)}`;
  run("cp", ["-a", join(folder, "data"), made]);
  rmSync(folder, { recursive: true, force: true });
  try {
    renameSync(made, kept);
  } catch (cause) {
    rmSync(made, { recursive: true, force: true });
    if (!existsSync(kept)) throw cause;
  }
}

function versionOf(native: string): string {
  return run(join(native, "bin/postgres"), ["--version"])
    .replaceAll(/[^\d.]+/g, " ")
    .trim()
    .split(" ")[0]!;
}

function run(file: string, args: readonly string[], identity: Identity = {}): string {
  const done = spawnSync(file, args, { encoding: "utf8", ...identity });
  if (done.status !== 0) throw new Error(`${basename(file)} failed: ${done.stderr || String(done.error)}`);
  return done.stdout;
}
