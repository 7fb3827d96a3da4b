// The cache decides where every request goes first. News that arrives late must not send a
// client back to a leader that was deposed.
import { Epoch } from "@gossip/tso";
import { beforeEach, describe, expect, test } from "vitest";
import type { PeerEndpoint } from "../driver/peer-endpoint.ts";
import { LeaderCache } from "./leader-cache.ts";

const [A, B] = ["a:1", "b:1"] as unknown as [PeerEndpoint, PeerEndpoint];
const epoch = (raw: bigint): Epoch => Epoch.fromRaw(raw);

let nowMs: number;
let cache: LeaderCache;
beforeEach(() => {
  nowMs = 0;
  cache = new LeaderCache({ nowMs: () => nowMs }, 100);
});

describe("LeaderCache", () => {
  test("two leaderships that are learned in either order end at the later one", () => {
    for (const order of [
      [A, B],
      [B, A],
    ] as const) {
      cache = new LeaderCache({ nowMs: () => nowMs }, 100);
      for (const endpoint of order) cache.confirm(endpoint, epoch(endpoint === A ? 3n : 5n));
      expect(cache.fresh).toEqual({ endpoint: B, epoch: 5n });
    }
  });

  test("an older hint is refused, an equal or newer one followed", () => {
    cache.confirm(A, epoch(5n));
    expect(cache.follow({ leaderEndpoint: B, leaderEpoch: epoch(4n) }, true)).toBe(false);
    expect(cache.fresh).toEqual({ endpoint: A, epoch: 5n });
    expect(cache.follow({ leaderEndpoint: B, leaderEpoch: epoch(5n) }, false)).toBe(true);
    expect(cache.fresh).toEqual({ endpoint: B, epoch: 5n });
  });

  test("a hint without an epoch moves it only to a configured endpoint", () => {
    cache.confirm(A, epoch(5n));
    expect(cache.follow({ leaderEndpoint: B }, false)).toBe(false);
    expect(cache.follow({ leaderEndpoint: B }, true)).toBe(true);
    expect(cache.fresh).toEqual({ endpoint: B, epoch: undefined });
  });

  test("where no epoch is known, a hint moves it and a grant elsewhere does not", () => {
    cache.follow({ leaderEndpoint: B }, true);
    cache.confirm(A, epoch(9n));
    expect(cache.fresh).toEqual({ endpoint: B, epoch: undefined });
    expect(cache.follow({ leaderEndpoint: A, leaderEpoch: epoch(1n) }, false)).toBe(true);
    expect(cache.fresh).toEqual({ endpoint: A, epoch: 1n });
  });

  test("the same endpoint keeps the greater epoch", () => {
    cache.confirm(A, epoch(5n));
    cache.confirm(A, epoch(4n));
    cache.follow({ leaderEndpoint: A }, true);
    expect(cache.fresh).toEqual({ endpoint: A, epoch: 5n });
  });

  test("a stale leader outranks no other", () => {
    cache.confirm(A, epoch(5n));
    nowMs = 100;
    expect(cache.fresh).toBeUndefined();
    cache.confirm(B, epoch(1n));
    expect(cache.fresh).toEqual({ endpoint: B, epoch: 1n });
  });

  test("a grant keeps it fresh", () => {
    cache.confirm(A, epoch(5n));
    nowMs = 99;
    cache.confirm(A, epoch(5n));
    nowMs = 198;
    expect(cache.fresh).toEqual({ endpoint: A, epoch: 5n });
  });

  test("knows a pivot by who granted last, however it learned of the new leader", () => {
    expect(cache.confirm(A, epoch(1n))).toBe(false);
    expect(cache.confirm(A, epoch(1n))).toBe(false);
    cache.follow({ leaderEndpoint: B, leaderEpoch: epoch(2n) }, false);
    expect(cache.confirm(B, epoch(2n))).toBe(true);
    expect(cache.confirm(B, epoch(2n))).toBe(false);
  });

  test("forgets the given one, and no other", () => {
    cache.confirm(A, epoch(5n));
    cache.forget(B);
    expect(cache.fresh?.endpoint).toBe(A);
    cache.forget(A);
    expect(cache.fresh).toBeUndefined();
  });
});
