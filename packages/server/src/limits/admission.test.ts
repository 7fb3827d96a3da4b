// A server that takes on everything runs out of memory; one that refuses the wrong thing makes workers lose leases that
// they hold.
import { unwrap } from "@gossip/stdx";
import { expect, test } from "vitest";
import { Admission, type Load } from "./admission.ts";
import { makeLimits } from "./limits.ts";

const limits = makeLimits({
  maxPendingElements: 100,
  maxPendingNew: 40,
  maxPendingPerToken: 60,
  maxPendingBytes: 1_000,
});
const load = (token: string, elements: number, priority: Load["priority"] = "held"): Load => ({
  token,
  elements,
  priority,
});

test("under overload, work on held leases is taken on and claims are refused", () => {
  const admission = new Admission(limits);
  const claims = unwrap(admission.admit(load("a", 40, "new")));
  expect(admission.admit(load("b", 1, "new"))).toMatchObject({
    ok: false,
    error: { kind: "Overloaded", retryAfterMs: 1_000 },
  });
  const held = unwrap(admission.admit(load("b", 60)));
  expect(admission.admit(load("c", 1))).toMatchObject({ ok: false, error: { kind: "Overloaded" } });
  claims();
  // Claims gave their part back, so there is room for both again.
  unwrap(admission.admit(load("c", 1)));
  unwrap(admission.admit(load("c", 1, "new")));
  held();
  held();
  expect(admission.pendingElements).toBe(2);
  expect(admission.refusedRequests).toBe(2);
});

test("one token cannot take the share of others", () => {
  const admission = new Admission(limits);
  unwrap(admission.admit(load("greedy", 60)));
  expect(admission.admit(load("greedy", 1))).toMatchObject({ ok: false, error: { kind: "TooManyRequests" } });
  unwrap(admission.admit(load("modest", 40)));
});

test("a request above a limit is taken on when nothing else is there", () => {
  const admission = new Admission(limits);
  const done = unwrap(admission.admit(load("a", 500)));
  expect(admission.admit(load("b", 1)).ok).toBe(false);
  done();
  unwrap(admission.admit(load("b", 1)));
});

test("bytes of bodies are counted while they arrive, and given back", () => {
  const admission = new Admission(limits);
  const [one, two] = [admission.openBody(), admission.openBody()];
  expect([one.take(600), two.take(300), two.take(200)]).toEqual([true, true, false]);
  expect(admission.pendingBytes).toBe(900);
  one.release();
  expect([two.take(200), two.take(5_000)]).toEqual([true, true]);
  expect(one.take(1)).toBe(false);
  two.release();
  two.release();
  expect(admission.pendingBytes).toBe(0);
});
