// Durations and times of day. Every function takes the time that it compares with, so that none reads a clock.

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A duration in at most two units: `42 s`, `3 min 20 s`, `2 h 5 min`, `4 d 3 h`. */
export function formatDuration(ms: number): string {
  if (ms < SECOND) return "0 s";
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return twoUnits(ms, MINUTE, "min", SECOND, "s");
  if (ms < DAY) return twoUnits(ms, HOUR, "h", MINUTE, "min");
  return twoUnits(ms, DAY, "d", HOUR, "h");
}

function twoUnits(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${largeName}${rest === 0 ? "" : ` ${rest} ${smallName}`}`;
}

/** How long ago: `just now`, `12 s ago`. Clocks differ, so a time that is ahead is now. */
export function formatAgo(atMs: number, nowMs: number): string {
  const ms = nowMs - atMs;
  return ms < 2 * SECOND ? "just now" : `${formatDuration(ms)} ago`;
}

/** Time of day, and the date unless it is today: `14:05:09`, `Nov 16, 14:05:09`. */
export function formatClock(atMs: number, nowMs: number): string {
  const at = new Date(atMs);
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  return isSameDay(at, new Date(nowMs)) ? time : `${MONTHS[at.getMonth()]} ${at.getDate()}, ${time}`;
}

/** A label for a time axis whose marks are `stepMs` apart. */
export function formatAxisTime(atMs: number, stepMs: number): string {
  const at = new Date(atMs);
  if (stepMs >= DAY) return `${MONTHS[at.getMonth()]} ${at.getDate()}`;
  const time = `${two(at.getHours())}:${two(at.getMinutes())}`;
  return stepMs >= MINUTE ? time : `${time}:${two(at.getSeconds())}`;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

function two(value: number): string {
  return String(value).padStart(2, "0");
}

function isSameDay(a: Date, b: Date): boolean {
  return a.getFullYear() === b.getFullYear() && a.getMonth() === b.getMonth() && a.getDate() === b.getDate();
}
