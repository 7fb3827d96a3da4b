import { existsSync } from "node:fs";
import type { Command } from "commander";
import { ok } from "@gossip/stdx";
import {
  acting,
  addStoreCommand,
  readStoreFlags,
  type Cli,
  type CommandResult,
  type StoreFlags,
  type StoreSettings,
} from "../cli.ts";
import { note, problem, type CheckUp } from "../doctor/check-up.ts";
import { checkFolder, checkShell, checkVersions } from "../doctor/machine.ts";
import { checkStore } from "../doctor/store-health.ts";
import type { Style } from "../output/console.ts";
import { openStore } from "../store-url/open-store.ts";

const SIGNS = {
  fine: ["ok", "green"],
  note: ["note", "yellow"],
  problem: ["problem", "red"],
} as const satisfies Record<CheckUp["verdict"], readonly [string, Style]>;

/** `gossip doctor`: is everything in order, and if not, what to do? */
export function registerDoctor(program: Command, cli: Cli): void {
  addStoreCommand(program, {
    usage: "doctor",
    summary: "Look at the machine, the store and the clock, and say what to do",
    examples: ["gossip doctor", "gossip doctor --store postgres://db.internal/gossip --tso tso-1.internal:50551"],
  }).action(acting(cli, (flags: StoreFlags) => examine(cli, flags)));
}

async function examine(cli: Cli, flags: StoreFlags): Promise<CommandResult> {
  const settings = readStoreFlags(cli, flags);
  if (!settings.ok) return settings;
  const checks = [
    checkVersions(),
    checkShell(),
    ...(await checkFolder(settings.value.address)),
    ...(await checkOpen(settings.value)),
  ];
  const { console } = cli;
  for (const { what, verdict, words: incomplete } of checks) {
    const words = console.complete(incomplete);
    if (console.isJson) console.json({ what, verdict, words });
    else
      console.line(
        `${console.styled(console.stdout, SIGNS[verdict][1], SIGNS[verdict][0].padEnd(8))} ${what.padEnd(9)} ${words}`,
      );
  }
  return ok(checks.some(({ verdict }) => verdict === "problem") ? "Unhealthy" : "Ok");
}

async function checkOpen({ address, tso, tenant }: StoreSettings): Promise<CheckUp[]> {
  if (address.kind === "lmdb" && !existsSync(address.path))
    return [note("store", "there is none yet: the first run creates it")];
  const opened = await openStore({ address, tso, mustExist: true, verify: true });
  if (!opened.ok) return [problem("store", opened.error.message)];
  try {
    return await checkStore(opened.value, tenant, tso !== undefined);
  } finally {
    await opened.value.close();
  }
}
