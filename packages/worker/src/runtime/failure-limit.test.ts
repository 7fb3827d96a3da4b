// A run that fails as a whole fills its ledger with a million items and its user's day with them. One that is aborted for
// a few unlucky items at its start is no better.

import { expect, test } from "vitest";
import { FailureLimit, type MaxFailures } from "./failure-limit.ts";

test("a number is exceeded by one more failure, of this process or on record", () => {
  const limit = new FailureLimit(3);
  expect(limit.countLimit).toBe(4);
  expect(limit.isExceeded({ items: 0, failures: 3 }, 3)).toBe(false);
  expect(limit.isExceeded({ items: 1000, failures: 4 }, 0)).toBe(true);
  expect(limit.isExceeded({ items: 1000, failures: 0 }, 4)).toBe(true);
  expect(new FailureLimit(0).isExceeded({ items: 0, failures: 1 }, 0)).toBe(true);
});

test("a share is judged once a hundred items were tried", () => {
  const limit = new FailureLimit("10%");
  expect(limit.countLimit).toBeUndefined();
  expect(limit.isExceeded({ items: 0, failures: 99 }, 99)).toBe(false);
  expect(limit.isExceeded({ items: 0, failures: 100 }, 100)).toBe(true);
  expect(limit.isExceeded({ items: 90, failures: 10 }, 10)).toBe(false);
  expect(limit.isExceeded({ items: 89, failures: 11 }, 11)).toBe(true);
  expect(new FailureLimit("0.5%").isExceeded({ items: 199, failures: 1 }, 1)).toBe(false);
});

test.each([-1, 1.5, "5", "101%", "-1%", "%", null, {}])("%s is no limit", (input) => {
  expect(() => new FailureLimit(input as MaxFailures)).toThrow("maxFailures must be");
});
