const GROUPS = /\B(?=(\d{3})+$)/g;

/** `1234567` as `1,234,567` in every locale, so that lines can be compared between machines. */
export function formatCount(count: number): string {
  return String(Math.round(count)).replaceAll(GROUPS, ",");
}

/** `1 item`, `2 items`. */
export function countOf(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : plural}`;
}

/** At most two units: `850 ms`, `12 s`, `3 min 20 s`, `2 h 5 min`, `4 d 3 h`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return joined([minutes, "min"], [seconds % 60, "s"]);
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return joined([hours, "h"], [minutes % 60, "min"]);
  return joined([Math.floor(hours / 24), "d"], [hours % 24, "h"]);
}

/** Three significant digits: `0.52/s`, `8.1/s`, `412/s`, `12.3k/s`. */
export function formatRate(perSecond: number): string {
  if (perSecond >= 999_500) return `${(perSecond / 1_000_000).toFixed(1)}M/s`;
  if (perSecond >= 9999.5) return `${(perSecond / 1000).toFixed(1)}k/s`;
  if (perSecond >= 99.5) return `${Math.round(perSecond)}/s`;
  return `${perSecond.toFixed(perSecond >= 9.95 ? 0 : perSecond >= 0.995 ? 1 : 2)}/s`;
}

/** Never `100 %` before the end, never `0 %` after the start. */
export function formatShare(fraction: number): string {
  const percent = fraction * 100;
  if (fraction >= 1) return "100 %";
  if (percent > 99.9) return "99.9 %";
  if (percent > 0 && percent < 0.1) return "0.1 %";
  return `${percent.toFixed(percent < 10 ? 1 : 0)} %`.replace("100 %", "99.9 %");
}

function joined(large: readonly [number, string], small: readonly [number, string]): string {
  return small[0] === 0 ? large.join(" ") : `${large.join(" ")} ${small.join(" ")}`;
}
