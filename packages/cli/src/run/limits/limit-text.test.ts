// A limit that is read as another one is worse than one that is refused: the service that it protects finds out.

import { unwrap } from "@gossip/stdx";
import { expect, test } from "vitest";
import { limitsText, readLimits } from "./limit-text.ts";

const NOTHING_SET = { paused: false, pausedSince: undefined, itemsPerSecond: null, concurrency: null, heldForMs: 0 };

test.each([
  ["100/s", 100, "100/s"],
  ["100", 100, "100/s"],
  ["0.5/s", 0.5, "30/min"],
  ["30/min", 0.5, "30/min"],
  ["1/min", 1 / 60, "1/min"],
  ["500/h", 500 / 3600, "8.33333/min"],
  ["10/h", 10 / 3600, "10/h"],
  ["1500/s", 1500, "1,500/s"],
])("the rate %s is %d items a second, and is shown as %s", (rate, itemsPerSecond, shown) => {
  expect(unwrap(readLimits({ rate }))).toEqual({ itemsPerSecond });
  expect(limitsText({ ...NOTHING_SET, itemsPerSecond })).toBe(shown);
});

test("limits are lifted by name, left alone if they are left out, and shown together", () => {
  expect(unwrap(readLimits({ rate: "none", concurrency: "none" }))).toEqual({
    itemsPerSecond: null,
    concurrency: null,
  });
  expect(unwrap(readLimits({ concurrency: "50" }))).toEqual({ concurrency: 50 });
  expect(limitsText({ ...NOTHING_SET, itemsPerSecond: 5, concurrency: 1 })).toBe("5/s, 1 item at a time");
  expect(limitsText(NOTHING_SET)).toBe(undefined);
});

test.each(["", "0", "-5/s", "5/d", "5 /s", "1e3/s", "0.0000000001/h", "5/", "x"])("the rate %j is refused", (rate) => {
  expect(readLimits({ rate })).toMatchObject({ ok: false, error: { kind: "BadCommandLine" } });
});

test.each(["", "0", "1.5", "-1", "1000001", "x"])("the concurrency %j is refused", (concurrency) => {
  expect(readLimits({ concurrency })).toMatchObject({ ok: false, error: { kind: "BadCommandLine" } });
});
