// Numbers as people read them. All of them are short enough for a table cell on a phone.

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const UNITS = [
  { size: 1e9, suffix: "G" },
  { size: 1e6, suffix: "M" },
  { size: 1e3, suffix: "k" },
] as const;

/** A count with separators: `12,345`. */
export function formatCount(count: number): string {
  return WHOLE.format(count);
}

/** A count in at most five characters: `12.3k`. Counts below 10,000 are exact. */
export function formatShort(count: number): string {
  if (count < 10_000) return formatCount(Math.round(count));
  const { size, suffix } = UNITS.find((unit) => count >= unit.size)!;
  const scaled = count / size;
  return `${scaled >= 100 ? Math.floor(scaled) : Math.floor(scaled * 10) / 10}${suffix}`;
}

/** A rate per second: `1,234/s`, `0.25/s`. Without a rate, a dash. */
export function formatRate(perSecond: number | null | undefined): string {
  if (perSecond === null || perSecond === undefined) return "–";
  if (perSecond === 0) return "0/s";
  if (perSecond < 0.01) return "<0.01/s";
  return perSecond < 10 ? `${Number(perSecond.toPrecision(2))}/s` : `${formatShort(perSecond)}/s`;
}

/** A share of the whole: `42.1%`. Never 100% before it is all, and never 0% after a start. */
export function formatPercent(fraction: number): string {
  if (fraction >= 1) return "100%";
  if (fraction <= 0) return "0%";
  const percent = Math.floor(fraction * 1000) / 10;
  return `${Math.max(0.1, percent).toFixed(1)}%`;
}

/** `1 shard`, `2 shards`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}
