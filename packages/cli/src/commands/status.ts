import type { Command } from "commander";
import { RunId, RunStatus } from "@gossip/contracts";
import { ok } from "@gossip/stdx";
import { acting, addStoreCommand, type Cli, type CommandResult, type StoreFlags } from "../cli.ts";
import { formatCount, formatShare } from "../output/number-words.ts";
import { printableText } from "../output/printable.ts";
import { timeJson } from "../output/time-text.ts";
import { renderStrip } from "../progress/strip.ts";
import { flaws } from "../run/results/item-totals.ts";
import { readOverview, readSettings, type RunOverview } from "../run/inspect/run-overview.ts";
import { describeWork, type RunSettings } from "../run/start/run-settings.ts";
import { withRun } from "./chosen-run.ts";
import { readWatch, showScreen } from "./watch.ts";

interface Flags extends StoreFlags {
  readonly watch?: string | true;
}

const STRIP_WIDTH = 60;

/** `gossip status`: the state of a run. */
export function registerStatus(program: Command, cli: Cli): void {
  addStoreCommand(program, {
    usage: "status [run]",
    summary: "Show the state of a run",
    details:
      "Every command takes the run as its first argument: its id, the first digits of its id, or its name. It can be left out if there is only one run, or only one that has not ended.",
    examples: ["gossip status", "gossip status nightly --watch", "gossip status --store postgres://db.internal/gossip"],
  })
    .option("--watch [seconds]", "refresh until the run has ended, or Ctrl-C")
    .action(acting(cli, (reference: string | undefined, flags: Flags) => status(cli, reference, flags)));
}

async function status(cli: Cli, reference: string | undefined, flags: Flags): Promise<CommandResult> {
  const everyMs = readWatch(flags.watch);
  if (!everyMs.ok) return everyMs;
  return withRun(cli, flags, reference, async ({ opened, record, request }) => {
    const settings = await readSettings(opened, record);
    if (!settings.ok) return settings;
    return showScreen(cli, everyMs.value, async () => {
      const overview = await readOverview(opened, request);
      if (!overview.ok) return overview;
      return ok({
        lines: linesOf(cli, overview.value, settings.value),
        json: [{ ...overviewJson(overview.value), ...settings.value }],
        isFinal: RunStatus.isTerminal(overview.value.status),
      });
    });
  });
}

/** The state of a run for programs. */
export function overviewJson({ request, status: state, states, totals, ...rest }: RunOverview): object {
  return {
    run: request.run,
    status: state,
    ...totals,
    shards: states,
    fraction: rest.fraction,
    earliestDeadline: timeJson(rest.earliestDeadline),
  };
}

function linesOf({ console }: Cli, overview: RunOverview, settings: RunSettings | undefined): string[] {
  const { request, states, totals, fraction, rows } = overview;
  const lines = [`run      ${RunId.format(request.run)}  ${overview.status}`];
  if (settings !== undefined) lines.push(`what     ${printableText(describeWork(settings))}`);
  if (settings?.out !== undefined) lines.push(`out      ${printableText(settings.out)}`);
  lines.push(
    `items    ${formatCount(totals.items)} done${flaws(totals)}`,
    `shards   ${formatCount(states.done)} done, ${formatCount(states.leased)} in work, ${formatCount(states.waiting)} waiting, ${formatCount(states.parked)} parked`,
    `about    ${states.leased + states.waiting + states.parked === 0 ? formatShare(1) : fraction === undefined ? "unknown" : formatShare(Math.min(0.999, fraction))}`,
    `keys     ${renderStrip(rows, { width: Math.max(10, Math.min(STRIP_WIDTH, (console.width ?? 80) - 9)), hasUnicode: console.hasUnicode, styled: (style, text) => console.styled(console.stdout, style, text) })}`,
  );
  return lines;
}
