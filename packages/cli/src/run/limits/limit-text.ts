import {
  MAX_FLEET_CONCURRENCY,
  MAX_ITEMS_PER_SECOND,
  MIN_ITEMS_PER_SECOND,
  type RunSettings,
  type RunSettingsChange,
} from "@gossip/coordination";
import { ok, type Result } from "@gossip/stdx";
import { fail, type CliError } from "../../output/cli-error.ts";
import { countOf, formatCount } from "../../output/number-words.ts";

/** The options that limit all processes of a run together, as text. */
export interface LimitFlags {
  readonly rate?: string;
  readonly concurrency?: string;
}

const SECONDS = { s: 1, sec: 1, min: 60, h: 3600 } as const;
const RATE = /^(\d{1,12}(?:\.\d{1,9})?)(?:\/(s|sec|min|h))?$/;
/** Lifts a limit. */
const NONE = "none";

/** Read `--rate` and `--concurrency`. What is left out stays as it is. */
export function readLimits({ rate, concurrency }: LimitFlags): Result<RunSettingsChange, CliError> {
  const itemsPerSecond = rate === undefined ? undefined : readRate(rate);
  if (itemsPerSecond !== undefined && Number.isNaN(itemsPerSecond))
    return fail("BadCommandLine", "--rate is not a number of items: write 100/s, 30/min, 500/h, or none.");
  const slots = concurrency === undefined ? undefined : readConcurrency(concurrency);
  if (slots !== undefined && Number.isNaN(slots))
    return fail(
      "BadCommandLine",
      `--concurrency is not a whole number from 1 to ${MAX_FLEET_CONCURRENCY}: correct it, or write none.`,
    );
  return ok({ itemsPerSecond, concurrency: slots });
}

function readRate(text: string): number | null {
  if (text === NONE) return null;
  const [, count, unit = "s"] = RATE.exec(text) ?? [];
  const perSecond = count === undefined ? NaN : Number(count) / SECONDS[unit as keyof typeof SECONDS];
  return perSecond >= MIN_ITEMS_PER_SECOND && perSecond <= MAX_ITEMS_PER_SECOND ? perSecond : NaN;
}

function readConcurrency(text: string): number | null {
  if (text === NONE) return null;
  const value = /^\d{1,7}$/.test(text) ? Number(text) : NaN;
  return value >= 1 && value <= MAX_FLEET_CONCURRENCY ? value : NaN;
}

/** The limits of a run in words. `undefined` if it has none. */
export function limitsText({ itemsPerSecond, concurrency }: RunSettings): string | undefined {
  const limits = [
    ...(itemsPerSecond === null ? [] : [rateText(itemsPerSecond)]),
    ...(concurrency === null ? [] : [`${countOf(concurrency, "item")} at a time`]),
  ];
  return limits.length === 0 ? undefined : limits.join(", ");
}

/** A rate in the unit in which it is a number from 1 on, if there is one. */
function rateText(itemsPerSecond: number): string {
  const [unit, seconds] =
    itemsPerSecond >= 1 ? ["s", 1] : itemsPerSecond * 60 >= 1 - 1e-9 ? ["min", 60] : (["h", 3600] as const);
  const count = itemsPerSecond * Number(seconds);
  return `${count >= 1000 ? formatCount(Math.round(count)) : Number(count.toPrecision(6))}/${unit}`;
}
