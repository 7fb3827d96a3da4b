import { RunId, TenantId } from "@gossip/contracts";
import type { InsightOptions, ServerOptions } from "@gossip/server";
import type { Cli, StoreFlags } from "../cli.ts";
import { shellWord } from "../output/suggestions.ts";
import { VERSION } from "../version.ts";
import { StoreCheck } from "./store-check.ts";

/** The parts of a server that serve the web console. */
export async function consoleParts(
  cli: Cli,
  flags: StoreFlags,
  insight: Omit<InsightOptions, "version" | "health" | "retryCommand">,
): Promise<Pick<ServerOptions, "console" | "insight">> {
  const { consoleFiles } = await import("@gossip/console");
  const files = consoleFiles();
  return {
    ...(files.size === 0 ? {} : { console: files }),
    insight: {
      ...insight,
      version: VERSION,
      health: new StoreCheck(cli, flags),
      retryCommand: (run) => retryLine(flags, run),
    },
  };
}

/** The command that retries the failures of a run, without credentials. */
function retryLine(
  { store, tso }: StoreFlags,
  { tenant, run }: { readonly tenant: TenantId; readonly run: RunId },
): string {
  // The address of a store may hold a password: it is left to the environment.
  const isPlain = store !== undefined && !store.includes("@");
  return [
    "gossip",
    "retry",
    RunId.format(run),
    ...(isPlain ? ["--store", shellWord(store)] : []),
    ...(tenant === TenantId.ZERO ? [] : ["--tenant", tenant]),
    ...(tso === undefined ? [] : ["--tso", shellWord(tso)]),
  ].join(" ");
}
