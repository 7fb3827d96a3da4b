// A version comes back from a caller as the guard of a write. One that is read as another's lets a write pass that must not.

import type { StoreVersion } from "@gossip/coordination";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readRunVersion, readShardVersion, runVersion, shardVersion } from "./record-version.ts";

const count = fc.integer({ min: 1, max: 999_999_999_999_999 });

test("a version round-trips, as a run's or a shard's and as nothing else", () => {
  fc.assert(
    fc.property(count, count, (runId, version) => {
      expect(readRunVersion(runVersion({ runId, version }))).toEqual({ runId, version });
      expect(readShardVersion(shardVersion({ runId, version }))).toEqual({ runId, version });
      expect(readShardVersion(runVersion({ runId, version }))).toBeUndefined();
      expect(readRunVersion(shardVersion({ runId, version }))).toBeUndefined();
    }),
  );
});

test("nothing else is a version", () => {
  const pieces = fc
    .array(fc.constantFrom("s", "r", ".", "0", "1", "9", "-", "+", " ", "e", "x", "12345678", "999999999999999"), {
      maxLength: 6,
    })
    .map((parts) => parts.join(""));
  const given: fc.Arbitrary<StoreVersion> = fc.oneof(
    pieces,
    pieces.map((text) => `s${text}`),
    fc.integer(),
    fc.bigInt(),
  );
  fc.assert(
    fc.property(given, (version) => {
      const isOurs = typeof version === "string" && /^s[1-9]\d{0,14}\.[1-9]\d{0,14}$/.test(version);
      expect(readShardVersion(version) !== undefined).toBe(isOurs);
    }),
    { numRuns: 2000 },
  );
  expect(readShardVersion(undefined)).toBeUndefined();
});
