import type { ConsoleEvent } from "./api-types.ts";

/** How many events the page keeps. Older ones are dropped, so that a page left open does not grow. */
export const MAX_EVENTS = 1_000;

/**
 * The events that the Events page shows, newest first.
 *
 * While it is paused, `shown` does not change. New events wait in `waiting`, up to the limit, and `missed` counts those
 * that did not fit.
 */
export interface EventList {
  readonly shown: readonly ConsoleEvent[];
  readonly waiting: readonly ConsoleEvent[];
  readonly isPaused: boolean;
  readonly missed: number;
  readonly hasGap: boolean;
}

export const NO_EVENTS: EventList = { shown: [], waiting: [], isPaused: false, missed: 0, hasGap: false };

export function addEvents(list: EventList, events: readonly ConsoleEvent[]): EventList {
  // A stream that goes on after a restart may repeat the last event.
  const known = new Set([...list.shown, ...list.waiting].slice(0, 2 * MAX_EVENTS).map(({ id }) => id));
  const fresh = events.filter(({ id }) => !known.has(id)).toReversed();
  if (fresh.length === 0) return list;
  if (!list.isPaused) return { ...list, shown: newestFirst([...fresh, ...list.shown]) };
  const all = [...fresh, ...list.waiting];
  return { ...list, waiting: all.slice(0, MAX_EVENTS), missed: list.missed + Math.max(0, all.length - MAX_EVENTS) };
}

export function pauseEvents(list: EventList): EventList {
  return { ...list, isPaused: true };
}

/** Shows what came during the pause. If events did not fit, there is a gap. */
export function resumeEvents(list: EventList): EventList {
  return {
    shown: newestFirst([...list.waiting, ...list.shown]),
    waiting: [],
    isPaused: false,
    missed: 0,
    hasGap: list.hasGap || list.missed > 0,
  };
}

/** Runs are looked at one after the other, so events do not come in the order of their times. */
function newestFirst(events: readonly ConsoleEvent[]): ConsoleEvent[] {
  return events.toSorted((a, b) => b.atMs - a.atMs).slice(0, MAX_EVENTS);
}

export function markGap(list: EventList): EventList {
  return { ...list, hasGap: true };
}

export interface EventFilter {
  readonly kind: string;
  readonly run: string;
  readonly text: string;
}

/** Whether an event passes the filter. The text matches the start of an id, or a part of any other word. */
export function matchesFilter(event: ConsoleEvent, { kind, run, text }: EventFilter): boolean {
  if (kind !== "" && event.kind !== kind) return false;
  if (run !== "" && event.run !== run) return false;
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return true;
  const ids = [event.run, event.shard, event.worker, event.opId].filter((id) => id !== undefined);
  const words = [event.kind, event.reason, event.workerName].filter((word) => word !== undefined);
  return ids.some((id) => id.startsWith(wanted)) || words.some((word) => word.toLowerCase().includes(wanted));
}
