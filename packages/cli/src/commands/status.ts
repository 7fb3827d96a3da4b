import type { Command } from "commander";
import { RunId, RunStatus } from "@gossip/contracts";
import { ok } from "@gossip/stdx";
import { acting, addStoreCommand, type Cli, type CommandResult, type StoreFlags } from "../cli.ts";
import type { Console, Style } from "../output/console.ts";
import { formatCount, formatShare } from "../output/number-words.ts";
import { printableText } from "../output/printable.ts";
import { formatTime, timeJson } from "../output/time-text.ts";
import { renderSegments, renderStrip } from "../progress/strip.ts";
import { limitsText } from "../run/limits/limit-text.ts";
import { openKeyShower } from "../run/inspect/key-shower.ts";
import { parkedJson, parkedText } from "../run/inspect/parked-text.ts";
import { readParkedDetails } from "../run/inspect/read-notes.ts";
import { sharedJson } from "../run/inspect/shared-settings.ts";
import { formatShardId } from "../run/inspect/run-reference.ts";
import { countFailuresLeft } from "../run/retry/retries.ts";
import { readSettings, type RunOverview } from "../run/inspect/run-overview.ts";
import { readShownOverview } from "../run/inspect/sampled-overview.ts";
import { flawsText, itemsText, sampleJson, sampleText } from "../run/inspect/sample-text.ts";
import { describeWork, type RunSettings } from "../run/start/run-settings.ts";
import { withRun } from "./chosen-run.ts";
import { readWatch, showScreen } from "./watch.ts";

interface Flags extends StoreFlags {
  readonly watch?: string | true;
  readonly exact?: boolean;
}

const STRIP_WIDTH = 60;
/** How many parked shards are shown with their reason. */
const MAX_PARKED = 10;
/** How many of them are read of a very large run. */
const MOST_PARKED_READ = 1000;

/** `gossip status`: the state of a run. */
export function registerStatus(program: Command, cli: Cli): void {
  addStoreCommand(program, {
    usage: "status [run]",
    summary: "Show the state of a run",
    details:
      "Every command takes the run as its first argument: its id, the first digits of its id, or its name. It can be left out if there is only one run besides its retries, or only one that has not ended. Of a run with more than 10,000 shards, the numbers of shards are exact, and items are estimated from a sample; --exact reads every shard.",
    examples: [
      "gossip status",
      "gossip status nightly --watch",
      "gossip status nightly --exact",
      "gossip status --store postgres://db.internal/gossip",
    ],
  })
    .option("--exact", "read every shard of a very large run, instead of a sample")
    .option("--watch [seconds]", "refresh until the run has ended, or Ctrl-C")
    .action(acting(cli, (reference: string | undefined, flags: Flags) => status(cli, reference, flags)));
}

async function status(cli: Cli, reference: string | undefined, flags: Flags): Promise<CommandResult> {
  const everyMs = readWatch(flags.watch);
  if (!everyMs.ok) return everyMs;
  return withRun(cli, flags, reference, async ({ opened, record, request }) => {
    const settings = await readSettings(opened, record);
    if (!settings.ok) return settings;
    const show = await openKeyShower(opened, request, settings.value?.source);
    return showScreen(cli, everyMs.value, async () => {
      const overview = await readShownOverview(opened, request, { isExact: flags.exact });
      if (!overview.ok) return overview;
      const { sample, states } = overview.value;
      const parked = await readParkedDetails(opened, request, sample === undefined ? {} : { most: MOST_PARKED_READ });
      if (!parked.ok) return parked;
      const details = [...parked.value.values()];
      const others = (sample === undefined ? details.length : states.parked) - MAX_PARKED;
      const failures = await countFailuresLeft(opened, request);
      if (!failures.ok) return failures;
      return ok({
        lines: [
          ...linesOf(cli, overview.value, settings.value),
          ...(failures.value === 0
            ? []
            : [
                `failures ${cli.console.complete(`${formatCount(failures.value)}: \`gossip failures RUN\` lists them`)}`,
              ]),
          ...details
            .slice(0, MAX_PARKED)
            .map((each) => `parked   ${formatShardId(each.shard)}  ${parkedText(each, show)}`),
          ...(others > 0 ? [`         and ${formatCount(others)} more`] : []),
        ],
        json: [
          {
            ...overviewJson(overview.value),
            ...settings.value,
            failures: failures.value,
            parked: details.map((each) => parkedJson(each, show)),
          },
        ],
        isFinal: RunStatus.isTerminal(overview.value.status),
      });
    });
  });
}

/** The state of a run for programs. */
export function overviewJson(overview: RunOverview): object {
  const { request, status: state, states, totals, shared, fraction, earliestDeadline } = overview;
  return {
    run: request.run,
    status: state,
    ...sharedJson(shared),
    ...totals,
    ...sampleJson(overview),
    shards: states,
    fraction,
    earliestDeadline: timeJson(earliestDeadline),
  };
}

function linesOf({ console }: Cli, overview: RunOverview, settings: RunSettings | undefined): string[] {
  const { request, states, fraction, shared } = overview;
  const paused = shared.pausedSince === undefined ? "" : `, paused since ${formatTime(shared.pausedSince)}`;
  const lines = [`run      ${RunId.format(request.run)}  ${overview.status}${paused}`];
  if (settings !== undefined) lines.push(`what     ${printableText(describeWork(settings))}`);
  if (settings?.out !== undefined) lines.push(`out      ${printableText(settings.out)}`);
  const limits = limitsText(shared);
  if (limits !== undefined) lines.push(`limits   ${limits}`);
  lines.push(
    `items    ${itemsText(overview)} done${flawsText(overview)}`,
    `shards   ${formatCount(states.done)} done, ${formatCount(states.leased)} in work, ${formatCount(states.waiting)} waiting, ${formatCount(states.parked)} parked`,
    `about    ${states.leased + states.waiting + states.parked === 0 ? formatShare(1) : fraction === undefined ? "unknown" : formatShare(Math.min(0.999, fraction))}`,
    `keys     ${stripOf(console, overview)}`,
  );
  const sampled = sampleText(overview);
  if (sampled !== undefined) lines.push(`sample   ${sampled}`);
  return lines;
}

function stripOf(console: Console, { rows, sample }: RunOverview): string {
  const options = {
    width: Math.max(10, Math.min(STRIP_WIDTH, (console.width ?? 80) - 9)),
    hasUnicode: console.hasUnicode,
    styled: (style: Style, text: string): string => console.styled(console.stdout, style, text),
  };
  return sample === undefined ? renderStrip(rows, options) : renderSegments(sample.strip, options);
}
