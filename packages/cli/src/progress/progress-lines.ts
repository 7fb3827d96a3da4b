import { RunId } from "@gossip/contracts";
import { countOf, formatCount, formatDuration, formatRate, formatShare } from "../output/number-words.ts";
import { formatTime } from "../output/time-text.ts";
import { clip, textWidth } from "../output/text-width.ts";
import type { Style } from "../output/console.ts";
import type { RunProgressShown } from "./run-progress.ts";
import { outageText } from "./own-work.ts";
import { limitsText } from "../run/limits/limit-text.ts";
import { itemCountText } from "../run/inspect/sample-text.ts";
import { renderSegments, renderStrip, stripLegend } from "./strip.ts";

export interface LineOptions {
  readonly width: number;
  readonly hasUnicode: boolean;
  readonly styled: (style: Style, text: string) => string;
}

const MAX_BAR = 30;
/** Below this width there is no room for a bar next to the figures. */
const LEAST_BAR = 8;
/** Less than this is not predicted more precisely: the last shards end when they end. */
const SHORT_MS = 5000;

/** The terminal view: a bar with figures, the key space, the states, and what the run is waiting for. */
export function progressLines(progress: RunProgressShown, options: LineOptions): string[] {
  const { width, styled } = options;
  const { rows, sample } = progress.overview;
  return [
    barLine(progress, options),
    sample === undefined ? renderStrip(rows, { ...options, width }) : renderSegments(sample.strip, options),
    stateLine(progress, options),
    ...remarks(progress).map((text) => styled("dim", clip(text, width))),
  ];
}

/** One line for a log. */
export function plainLine(progress: RunProgressShown): string {
  const { overview } = progress;
  const { states } = overview;
  const shards = `shards ${states.done} done, ${states.leased} in work, ${states.waiting} waiting, ${states.parked} parked`;
  return [
    `${RunId.format(overview.request.run).slice(0, 8)} ${figuresOf(progress).join(", ")}`,
    shards,
    ...remarks(progress),
  ].join("; ");
}

function barLine(progress: RunProgressShown, { width, hasUnicode, styled }: LineOptions): string {
  const figures = figuresOf(progress).join("  ");
  const room = Math.min(MAX_BAR, width - textWidth(figures) - 4);
  if (room < LEAST_BAR || progress.fraction === undefined) return clip(figures, width);
  const filled = Math.min(room, Math.floor(shareDone(progress) * room));
  const [full, empty] = hasUnicode ? ["━", "─"] : ["=", "-"];
  return `[${styled("green", full.repeat(filled))}${styled("dim", empty.repeat(room - filled))}] ${figures}`;
}

/** Without a known fraction there is no percentage. Without a steady rate there is no time of arrival. */
function figuresOf(progress: RunProgressShown): string[] {
  const { overview, fraction, perSecond, remainingMs } = progress;
  const isExpected = fraction !== undefined && !isSettled(progress) && !overview.shared.paused;
  return [
    ...(fraction === undefined ? [] : [formatShare(shareDone(progress))]),
    itemCountText(overview),
    ...(perSecond === undefined ? [] : [formatRate(perSecond)]),
    ...(isExpected ? [`ETA ${timeLeft(remainingMs)}`] : []),
  ];
}

function timeLeft(ms: number | undefined): string {
  if (ms === undefined) return "unknown";
  return ms < SHORT_MS ? `< ${formatDuration(SHORT_MS)}` : formatDuration(ms);
}

/** Parked shards are not done. */
function shareDone(progress: RunProgressShown): number {
  const isDone = isSettled(progress) && progress.overview.states.parked === 0;
  return isDone ? 1 : Math.min(progress.fraction ?? 0, 0.999);
}

/** Whether no shard can be worked on. */
function isSettled({ overview: { states } }: RunProgressShown): boolean {
  return states.leased + states.waiting === 0;
}

function stateLine({ overview }: RunProgressShown, { width, hasUnicode, styled }: LineOptions): string {
  const { states, totals, sample } = overview;
  const signs = stripLegend({ hasUnicode, styled });
  const parts: [sign: string, text: string][] = [
    [signs.done, `${formatCount(states.done)} done`],
    [signs.leased, `${formatCount(states.leased)} in work`],
    [signs.waiting, `${formatCount(states.waiting)} waiting`],
    [signs.parked, `${formatCount(states.parked)} parked`],
  ];
  // A sample does not tell how many of a few failures there are.
  const flaws = sample === undefined ? (["failed", "unreadable"] as const) : [];
  const flawed = flaws.filter((flaw) => totals[flaw] > 0).map((flaw) => `${formatCount(totals[flaw])} ${flaw}`);
  const failed = flawed.length === 0 ? "" : `   ${flawed.join(", ")}`;
  // A symbol takes one column, whatever its color.
  const plainWidth = parts.reduce((sum, [, text]) => sum + 2 + textWidth(text), 0) + 3 * 2 + textWidth(failed);
  if (plainWidth <= width)
    return parts.map(([sign, text]) => `${sign} ${text}`).join("  ") + (failed === "" ? "" : styled("red", failed));
  return clip(
    `${states.done}/${states.leased}/${states.waiting}/${states.parked}${failed.trim() === "" ? "" : ` ${failed.trim()}`}`,
    width,
  );
}

function remarks({ overview, held, waitMs, outage, isStopping, before }: RunProgressShown): string[] {
  const lines: string[] = [];
  if (outage !== undefined) {
    const since = `${outage.since.toISOString().slice(11, 19)} UTC (${formatDuration(outage.forMs)})`;
    const what = outage.what === "results" ? "room" : "it";
    lines.push(`${outageText(outage.what, since)}; the work waits for ${what}`);
  }
  if (before.totals.items > 0) lines.push(`${itemCountText(before)} skipped: done before`);
  const limits = limitsText(overview.shared);
  if (limits !== undefined) lines.push(`limited to ${limits}`);
  if (overview.shared.pausedSince !== undefined) lines.push(`paused since ${formatTime(overview.shared.pausedSince)}`);
  if (isStopping)
    lines.push(`stopping: letting the items of ${countOf(held, "shard")} finish; Ctrl-C again stops at once`);
  else if (waitMs !== undefined && !overview.shared.paused)
    lines.push(
      `waiting for ${countOf(overview.states.leased, "shard")} that others hold; the first lease ends in ${formatDuration(Math.max(0, waitMs))} unless it is renewed`,
    );
  return lines;
}
