// A number that is rounded the wrong way tells an operator that a run is complete when it is not.
import { expect, test } from "vitest";
import { formatCount, formatPercent, formatRate, formatShort, plural } from "./numbers.ts";
import { endText, startText } from "./titles.ts";
import { formatAgo, formatAxisTime, formatClock, formatDuration } from "./times.ts";

test.each([
  [0, "0%"],
  [0.000001, "0.1%"],
  [0.4219, "42.1%"],
  [0.99999, "99.9%"],
  [1, "100%"],
])("formatPercent(%d) is %s", (fraction, text) => {
  expect(formatPercent(fraction)).toBe(text);
});

test.each([
  [0, "0"],
  [9_999, "9,999"],
  [10_000, "10k"],
  [12_345, "12.3k"],
  [999_999, "999k"],
  [1_000_000, "1M"],
  [2_549_000_000, "2.5G"],
])("formatShort(%d) is %s", (count, text) => {
  expect(formatShort(count)).toBe(text);
});

test.each([
  [undefined, "–"],
  [null, "–"],
  [0, "0/s"],
  [0.001, "<0.01/s"],
  [0.256, "0.26/s"],
  [9.87, "9.9/s"],
  [1_234.4, "1,234/s"],
])("formatRate(%s) is %s", (rate, text) => {
  expect(formatRate(rate)).toBe(text);
});

test.each([
  [999, "0 s"],
  [42_000, "42 s"],
  [200_000, "3 min 20 s"],
  [180_000, "3 min"],
  [7_500_000, "2 h 5 min"],
  [356_400_000, "4 d 3 h"],
])("formatDuration(%d) is %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test("counts and plurals", () => {
  expect([formatCount(1_234_567), plural(1, "shard"), plural(0, "shard"), plural(2, "entry", "entries")]).toEqual([
    "1,234,567",
    "1 shard",
    "0 shards",
    "2 entries",
  ]);
});

test("a time that is ahead of this clock is now", () => {
  expect([formatAgo(5_000, 0), formatAgo(0, 12_000)]).toEqual(["just now", "12 s ago"]);
});

test("a time of another day has its date", () => {
  const noon = new Date(2026, 10, 17, 12, 0, 5).getTime();
  expect(formatClock(noon, noon + 60_000)).toBe("12:00:05");
  expect(formatClock(noon, noon + 86_400_000)).toBe("Nov 17, 12:00:05");
  expect([formatAxisTime(noon, 1_000), formatAxisTime(noon, 60_000), formatAxisTime(noon, 86_400_000)]).toEqual([
    "12:00:05",
    "12:00",
    "Nov 17",
  ]);
});

test("bounds below and above all keys have names, and others are shown as they are", () => {
  expect(["", "hex:", "hex:00", "hex:01"].map((text) => startText({ text }))).toEqual([
    "start",
    "start",
    "start",
    "hex:01",
  ]);
  expect(["", "hex:ffffffffffffffff", "hex:ff", "z"].map((text) => endText({ text }))).toEqual([
    "end",
    "end",
    "hex:ff",
    "z",
  ]);
});
