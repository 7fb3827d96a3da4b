import type { Command } from "commander";
import { RunId } from "@gossip/contracts";
import { ok } from "@gossip/stdx";
import { acting, addStoreCommand, withStore, type Cli, type StoreFlags } from "../cli.ts";
import { formatCount, formatShare } from "../output/number-words.ts";
import { printableText } from "../output/printable.ts";
import { timeJson } from "../output/time-text.ts";
import { renderStrip } from "../progress/strip.ts";
import { flaws } from "../run/results/item-totals.ts";
import { readOverview, readSettings, type RunOverview } from "../run/inspect/run-overview.ts";
import { findRun } from "../run/inspect/run-reference.ts";
import { describeWork, type RunSettings } from "../run/start/run-settings.ts";

const STRIP_WIDTH = 60;

/** `gossip status`: how a run stands. */
export function registerStatus(program: Command, cli: Cli): void {
  addStoreCommand(program, {
    usage: "status [run]",
    summary: "Show the state of a run",
    details:
      "A run is named by its id, the first digits of it, or its name; without any it is the only one there is, or the only one that has not ended.",
    examples: ["gossip status", "gossip status nightly --store postgres://db.internal/gossip"],
  }).action(
    acting(cli, (reference: string | undefined, flags: StoreFlags) =>
      withStore(cli, flags, async (opened, tenant) => {
        const record = await findRun(opened, tenant, reference);
        if (!record.ok) return record;
        const overview = await readOverview(opened, { tenant, run: record.value.run });
        if (!overview.ok) return overview;
        const settings = await readSettings(opened, record.value);
        if (!settings.ok) return settings;
        if (cli.console.isJson) cli.console.json({ ...overviewJson(overview.value), ...settings.value });
        else cli.console.lines(linesOf(cli, overview.value, settings.value));
        return ok("Ok");
      }),
    ),
  );
}

/** What a program wants to know of a run. */
export function overviewJson({ request, status, states, totals, fraction, earliestDeadline }: RunOverview): object {
  return {
    run: request.run,
    status,
    ...totals,
    shards: states,
    fraction,
    earliestDeadline: timeJson(earliestDeadline),
  };
}

function linesOf(cli: Cli, overview: RunOverview, settings: RunSettings | undefined): string[] {
  const { request, status, states, totals, fraction, rows } = overview;
  const { console } = cli;
  const lines = [`run      ${RunId.format(request.run)}  ${status}`];
  if (settings !== undefined) lines.push(`what     ${printableText(describeWork(settings))}`);
  if (settings?.out !== undefined) lines.push(`out      ${printableText(settings.out)}`);
  lines.push(
    `items    ${formatCount(totals.items)} done${flaws(totals)}`,
    `shards   ${formatCount(states.done)} done, ${formatCount(states.leased)} in work, ${formatCount(states.waiting)} waiting, ${formatCount(states.parked)} parked`,
    `about    ${formatShare(states.leased + states.waiting === 0 && states.parked === 0 ? 1 : fraction)}`,
    `keys     ${renderStrip(rows, { width: Math.max(10, Math.min(STRIP_WIDTH, (console.width ?? 80) - 9)), hasUnicode: console.hasUnicode, styled: (style, text) => console.styled(console.stdout, style, text) })}`,
  );
  return lines;
}
