// What an operator reads between the lines: whether the page is live, and whether an event is missing from the list.
import { expect, test } from "vitest";
import type { ConsoleEvent } from "./api-types.ts";
import { sentenceOf, urlOf } from "./call.ts";
import { CONNECTING, nextConnection } from "./connection.ts";
import { addEvents, matchesFilter, MAX_EVENTS, NO_EVENTS, pauseEvents, resumeEvents } from "./event-list.ts";

const event = (number: number, more: Partial<ConsoleEvent> = {}): ConsoleEvent => ({
  id: `e-${number}`,
  kind: "ShardAcquired",
  atMs: number,
  tenant: "t",
  run: "00000000000000aa",
  ...more,
});
const range = (from: number, to: number): ConsoleEvent[] =>
  Array.from({ length: to - from }, (_, index) => event(from + index));

test("the newest event is first, the list is bounded, and a repeated event is shown once", () => {
  let list = addEvents(NO_EVENTS, range(0, 10));
  list = addEvents(list, range(8, 12));
  expect(list.shown.map(({ atMs }) => atMs)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
  list = addEvents(list, range(12, 12 + 2 * MAX_EVENTS));
  expect(list.shown).toHaveLength(MAX_EVENTS);
  expect(list.shown[0]!.atMs).toBe(11 + 2 * MAX_EVENTS);
});

test("a paused list does not change, and shows afterwards what came meanwhile", () => {
  const before = pauseEvents(addEvents(NO_EVENTS, range(0, 3)));
  const during = addEvents(before, range(3, 5));
  expect(during.shown).toBe(before.shown);
  expect(resumeEvents(during)).toMatchObject({ isPaused: false, hasGap: false, waiting: [] });
  expect(resumeEvents(during).shown.map(({ atMs }) => atMs)).toEqual([4, 3, 2, 1, 0]);
});

test("what does not fit into a pause is counted, and leaves a gap", () => {
  const during = addEvents(pauseEvents(NO_EVENTS), range(0, MAX_EVENTS + 7));
  expect([during.waiting.length, during.missed]).toEqual([MAX_EVENTS, 7]);
  expect(resumeEvents(during).hasGap).toBe(true);
});

test.each([
  [{ kind: "", run: "", text: "" }, true],
  [{ kind: "ShardLost", run: "", text: "" }, false],
  [{ kind: "", run: "00000000000000ab", text: "" }, false],
  [{ kind: "", run: "", text: "  ACQUIRED " }, true],
  [{ kind: "", run: "", text: "00000000000000a" }, true],
  [{ kind: "", run: "", text: "aa" }, false],
  [{ kind: "", run: "", text: "8000" }, true],
])("the filter %j", (filter, isShown) => {
  expect(matchesFilter(event(1, { shard: "8000000000000001" }), filter)).toBe(isShown);
});

test("a lost connection counts from its first failure until the stream opens", () => {
  const first = nextConnection(CONNECTING, { kind: "failed", atMs: 10, nextTryMs: 20 });
  const second = nextConnection(first, { kind: "failed", atMs: 21, nextTryMs: 40 });
  expect(second).toEqual({ state: "lost", sinceMs: 10, nextTryMs: 40, attempts: 2 });
  expect(nextConnection(second, { kind: "opened" })).toEqual({ state: "live" });
});

test("requests go to the protocol next to the page, below any prefix", () => {
  expect(urlOf("http://h:1/console/", "console/runs", { text: "a b", after: undefined })).toBe(
    "http://h:1/v1/console/runs?text=a+b",
  );
  expect(urlOf("https://h/team/gossip/console/index.html", "console/whoami", {})).toBe(
    "https://h/team/gossip/v1/console/whoami",
  );
});

test("errors are sentences", () => {
  expect(sentenceOf({ kind: "Refused", status: 409, reason: "AlreadyLeased", message: "a worker holds it" })).toBe(
    "A worker holds it.",
  );
});
