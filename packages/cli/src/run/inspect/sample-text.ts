import { countOf, formatCount } from "../../output/number-words.ts";
import { flaws } from "../results/item-totals.ts";
import type { RunOverview } from "./run-overview.ts";

/** An error that is a smaller share of the items leaves three digits right. */
const SMALL_ERROR = 0.01;

/** The items of a run, exact or estimated. */
export type DoneItems = Pick<RunOverview, "totals" | "sample">;

/** The items that are done. `about 1,200,000` if they are estimated, with as many digits as the estimate may have right. */
export function itemsText({ totals: { items }, sample }: DoneItems): string {
  if (sample === undefined) return formatCount(items);
  const { itemsError } = sample;
  const digits = itemsError === undefined ? 1 : itemsError < items * SMALL_ERROR ? 3 : 2;
  return `about ${formatCount(Number(items.toPrecision(digits)))}`;
}

/** The same with the noun: `1 item`, `about 1,200,000 items`. */
export function itemCountText(done: DoneItems): string {
  return done.sample === undefined ? countOf(done.totals.items, "item") : `${itemsText(done)} items`;
}

/** What went wrong with items; empty if nothing did. Only for exact totals: the failures of a large run are counted. */
export function flawsText({ totals, sample }: DoneItems): string {
  return sample === undefined ? flaws(totals) : "";
}

/** What the estimates of an overview come from; `undefined` if all shards were read. */
export function sampleText({ sample, states }: RunOverview): string | undefined {
  if (sample === undefined) return undefined;
  const all = states.done + states.leased + states.waiting + states.parked;
  return `items and keys are estimates from ${formatCount(sample.shardCount)} of ${formatCount(all)} shards: --exact reads them all`;
}

/** The same for programs. Nothing if all shards were read. */
export function sampleJson({ sample }: RunOverview): object {
  if (sample === undefined) return {};
  const { shardCount, itemsError } = sample;
  return {
    estimate: { shards: shardCount, itemsError: itemsError === undefined ? undefined : Math.round(itemsError) },
  };
}
