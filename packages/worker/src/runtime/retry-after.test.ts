// A server that asks to be left alone and is asked again at once sends everybody away for longer; a wait that is misread as endless leaves
// an item undone.
import { InvariantViolation } from "@gossip/stdx";
import fc from "fast-check";
import { expect, test } from "vitest";
import { RetryAfter, retryAfterOf } from "./retry-after.ts";

test("what it was made with is what it asks for, with its message and cause", () => {
  fc.assert(
    fc.property(fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }), (ms) => {
      expect(retryAfterOf(new RetryAfter(ms))).toBe(ms);
    }),
  );
  const cause = new Error("429");
  expect(new RetryAfter(5, "the server is busy", { cause })).toMatchObject({ name: "RetryAfter", retryAfterMs: 5, message: "the server is busy", cause });
});

test.each([Number.NaN, Infinity, -1, "5", undefined])("%s is no time to wait: it is refused by the class, and ignored on what others throw", (ms) => {
  expect(() => new RetryAfter(ms as number)).toThrow(InvariantViolation);
  expect(retryAfterOf(Object.assign(new Error("busy"), { retryAfterMs: ms }))).toBe(0);
});

test.each([undefined, null, "busy", 7, new Error("busy"), {}])("%s asks for nothing", (thrown) => {
  expect(retryAfterOf(thrown)).toBe(0);
});
