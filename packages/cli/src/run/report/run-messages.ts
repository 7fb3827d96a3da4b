import { RunId, RunStatus } from "@gossip/contracts";
import { ok } from "@gossip/stdx";
import type { CommandResult } from "../../cli.ts";
import { fail } from "../../output/cli-error.ts";
import { countOf, formatCount, formatDuration, formatRate } from "../../output/number-words.ts";
import { printableText } from "../../output/printable.ts";
import type { OpenedStore } from "../../store-url/opened-store.ts";
import type { ProgressView } from "../../progress/run-progress.ts";
import { partsOf } from "../results/out-file.ts";
import { checkResults } from "../results/finish-run.ts";
import { remainingFailures } from "../retry/retries.ts";
import { flaws, isFlawless } from "../results/item-totals.ts";
import type { RunOverview } from "../inspect/run-overview.ts";
import { flawsText, itemCountText, itemsText } from "../inspect/sample-text.ts";
import { describeWork, type RunSettings } from "../start/run-settings.ts";
import type { Started } from "../start/start-or-join.ts";

/** The result of the command for a run that has already ended. `undefined` if there may be work left. */
export async function alreadyEnded(
  { record, request }: Started,
  overview: RunOverview,
  {
    opened,
    view,
    out,
  }: { readonly opened: OpenedStore; readonly view: ProgressView; readonly out: string | undefined },
): Promise<CommandResult | undefined> {
  const { status, run } = record;
  const { totals } = overview;
  if (!RunStatus.isTerminal(status)) return undefined;
  if (status !== "Done")
    return fail(
      "RunEnded",
      `run ${RunId.format(run)} has ended (${status}): the same command with --again starts over.`,
    );
  const checked = out === undefined ? ok(undefined) : await checkResults(opened, request, out);
  if (!checked.ok) return checked;
  const items = totals.unreadable === 0 ? `all ${countOf(totals.items, "item")}` : countOf(totals.items, "item");
  const remaining = await remainingFailures(opened, request, overview);
  if (!remaining.ok) return remaining;
  const isRetried = !isFlawless(totals) && remaining.value === 0;
  const where = isRetried ? " All of these succeeded when they were retried." : whereToLook(remaining.value);
  view.say(`Done before: ${items}${flaws(totals)}; --again starts over.${where}`, {
    kind: "finished",
    run,
    ...totals,
    skipped: totals.items,
    failures: remaining.value,
  });
  return ok(remaining.value === 0 ? "Ok" : "ItemsFailed");
}

/** The first message: what the run does, or where it resumes. */
export function openingMessage({ kind, request }: Started, overview: RunOverview, settings: RunSettings): string {
  const { states } = overview;
  const id = RunId.format(request.run);
  if (kind === "Created") return `Run ${id}: ${printableText(describeWork(settings))}`;
  const held =
    states.leased === 0
      ? ""
      : `; ${countOf(states.leased, "shard")} held by other workers, or by a killed one until its lease ends`;
  return `Run ${id} goes on: ${itemCountText(overview)} skipped, done before${flawsText(overview)}; ${formatCount(states.done)} of ${countOf(states.done + states.leased + states.waiting + states.parked, "shard")} done${held}`;
}

/** Where failures are listed; empty if there are none. */
function whereToLook(failures: number): string {
  return failures === 0 ? "" : " `gossip failures RUN` lists what failed, `gossip retry RUN` tries it again.";
}

/** What this process did in a run. */
export interface OwnTotals {
  readonly items: number;
  readonly problems: number;
}

export interface Closing {
  readonly out: string | undefined;
  readonly before: RunOverview;
  readonly elapsedMs: number;
  readonly own: OwnTotals;
}

/** Print the final message. Returns the result of the command. */
export function closingMessage(
  view: ProgressView,
  { request, totals, states }: RunOverview,
  { out, before, elapsedMs, own }: Closing,
): CommandResult {
  // What was done before may be an estimate.
  const done = Math.max(own.items, totals.items - before.totals.items);
  const fields = {
    kind: "finished",
    run: request.run,
    ...totals,
    skipped: before.totals.items,
    parked: states.parked,
    ownItems: own.items,
    problems: own.problems,
    elapsedMs: Math.round(elapsedMs),
    out,
    ...(before.sample === undefined ? {} : { skippedIsEstimate: true }),
  };
  const skipped = before.totals.items === 0 ? "" : `, ${itemsText(before)} of them done before`;
  if (states.parked > 0) {
    const where = out === undefined ? "" : ` Results so far are in ${printableText(partsOf(out))}.`;
    view.say(
      `Set aside: ${countOf(states.parked, "shard")}; ${countOf(totals.items, "item")} done${skipped}${flaws(totals)}.${where} \`gossip shards RUN --status Parked\` shows them, \`gossip unpark RUN --all\` and the same command try again.`,
      fields,
    );
    return ok("ItemsFailed");
  }
  const results = out === undefined ? "" : ` Results are in ${printableText(out)}.`;
  view.say(
    `Done: ${countOf(totals.items, "item")}${skipped}${flaws(totals)}, in ${formatDuration(elapsedMs)} (${formatRate(done / (elapsedMs / 1000))}).${results}${whereToLook(totals.failed + totals.unreadable)}`,
    fields,
  );
  return ok(isFlawless(totals) ? "Ok" : "ItemsFailed");
}
