import type { Command } from "commander";
import { RunId, RunStatus } from "@gossip/contracts";
import type { RunSettings } from "@gossip/coordination";
import { err, ok } from "@gossip/stdx";
import { acting, addStoreCommand, type Cli, type CommandResult, type StoreFlags } from "../cli.ts";
import { fail } from "../output/cli-error.ts";
import { formatTime } from "../output/time-text.ts";
import { sharedJson } from "../run/inspect/shared-settings.ts";
import { coordSentence } from "../run/report/coord-sentence.ts";
import { withRun } from "./chosen-run.ts";

/** `gossip pause`: stop the work of all processes, for now. */
export function registerPause(program: Command, cli: Cli): void {
  addStoreCommand(program, {
    usage: "pause [run]",
    summary: "Let all processes of a run stop their work for now",
    details:
      "Within a second they start no more items, on every machine. Items in progress finish, progress is stored, and the processes wait; more may join meanwhile. `gossip resume` continues.",
    examples: ["gossip pause nightly", "gossip pause 4f2a --store postgres://db.internal/gossip"],
  }).action(acting(cli, (reference: string | undefined, flags: StoreFlags) => setPaused(cli, flags, reference, true)));
}

/** `gossip resume`: continue a paused run. */
export function registerResume(program: Command, cli: Cli): void {
  addStoreCommand(program, {
    usage: "resume [run]",
    summary: "Continue a run that is paused",
    details: "The processes that wait go on within a second. If none is left, run the command that started it again.",
    examples: ["gossip resume nightly"],
  }).action(acting(cli, (reference: string | undefined, flags: StoreFlags) => setPaused(cli, flags, reference, false)));
}

function setPaused(
  cli: Cli,
  flags: StoreFlags,
  reference: string | undefined,
  paused: boolean,
): Promise<CommandResult> {
  return withRun(cli, flags, reference, async ({ opened, record, request }) => {
    const { run, status } = record;
    if (RunStatus.isTerminal(status))
      return fail("RunEnded", `run ${RunId.format(run)} has ended (${status}): there is nothing to pause or resume.`);
    const before = await opened.coordinator.getRunSettings(request);
    if (!before.ok) return err(coordSentence(before.error));
    const settings = await opened.coordinator.changeRunSettings({ ...request, change: { paused } });
    if (!settings.ok) return err(coordSentence(settings.error));
    const { console } = cli;
    if (console.isJson) console.json({ run, ...sharedJson(settings.value) });
    else console.note(sentence(RunId.format(run), before.value, paused));
    return ok("Ok");
  });
}

function sentence(run: string, before: RunSettings, paused: boolean): string {
  if (paused && before.pausedSince !== undefined)
    return `Run ${run} has been paused since ${formatTime(before.pausedSince)}; \`gossip resume RUN\` continues it.`;
  if (paused) return `Paused run ${run}; \`gossip resume RUN\` continues it.`;
  return before.paused ? `Resumed run ${run}.` : `Run ${run} was not paused.`;
}
