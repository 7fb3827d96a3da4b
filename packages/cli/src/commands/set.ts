import type { Command } from "commander";
import { RunId, RunStatus } from "@gossip/contracts";
import { err, ok } from "@gossip/stdx";
import { acting, addStoreCommand, type Cli, type CommandResult, type StoreFlags } from "../cli.ts";
import { fail } from "../output/cli-error.ts";
import { sharedJson } from "../run/inspect/shared-settings.ts";
import { limitsText, readLimits, type LimitFlags } from "../run/limits/limit-text.ts";
import { coordSentence } from "../run/report/coord-sentence.ts";
import { withRun } from "./chosen-run.ts";

interface Flags extends StoreFlags, LimitFlags {}

/** Add the options that limit all processes of a run together. */
export function addLimitOptions(command: Command): Command {
  return command
    .option("--rate <items/time>", "most items that all processes start together: 100/s, 30/min, 500/h, or none")
    .option("--concurrency <count>", "most items that all processes have in progress together, or none");
}

/** `gossip set`: change the limits of a run while it goes on. */
export function registerSet(program: Command, cli: Cli): void {
  const command = addStoreCommand(program, {
    usage: "set [run]",
    summary: "Change the limits of a run while it goes on",
    details:
      "The limits apply to all processes of the run together, on every machine, within about a second. Retries of an item count too. `gossip status` shows the limits.",
    examples: [
      "gossip set nightly --rate 100/s --concurrency 50",
      "gossip set nightly --rate none",
      "gossip set 4f2a --rate 500/h --store postgres://db.internal/gossip",
    ],
  });
  addLimitOptions(command).action(
    acting(cli, (reference: string | undefined, flags: Flags) => setLimits(cli, reference, flags)),
  );
}

async function setLimits(cli: Cli, reference: string | undefined, flags: Flags): Promise<CommandResult> {
  if (flags.rate === undefined && flags.concurrency === undefined)
    return fail("BadCommandLine", "set needs something to set: give --rate, --concurrency or both.");
  const change = readLimits(flags);
  if (!change.ok) return change;
  return withRun(cli, flags, reference, async ({ opened, record, request }) => {
    const { run, status } = record;
    if (RunStatus.isTerminal(status))
      return fail("RunEnded", `run ${RunId.format(run)} has ended (${status}): there is nothing to limit.`);
    const settings = await opened.coordinator.changeRunSettings({ ...request, change: change.value });
    if (!settings.ok) return err(coordSentence(settings.error));
    const { console } = cli;
    if (console.isJson) console.json({ run, ...sharedJson(settings.value) });
    else console.note(`Run ${RunId.format(run)}: ${limitsText(settings.value) ?? "no limits"}.`);
    return ok("Ok");
  });
}
