import { spawn, type ChildProcess } from "node:child_process";
import type { Cli, StoreFlags } from "../cli.ts";

/**
 * Start another command of this program on the same store. Its output is read from `stdout`.
 *
 * The store is passed in the environment: its address may hold a password, and other users see command lines.
 */
export function startCommand(cli: Cli, { store, tso }: StoreFlags, args: readonly string[]): ChildProcess {
  const [, script = ""] = process.argv;
  return spawn(
    process.execPath,
    [...process.execArgv, script, ...args, ...(tso === undefined ? [] : ["--tso", tso]), "--json"],
    {
      cwd: cli.cwd,
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...cli.env, ...(store === undefined ? {} : { GOSSIP_STORE: store }) },
    },
  );
}
