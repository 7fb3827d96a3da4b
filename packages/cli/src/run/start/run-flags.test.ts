// A run that begins with fewer shards than workers makes the others wait for the first splits.
import { unwrap } from "@gossip/stdx";
import { expect, test } from "vitest";
import { readRunFlags, type RunFlags } from "./run-flags.ts";

const FLAGS: RunFlags = {
  source: "fs:/data",
  exec: "true",
  onFail: "skip",
  retries: "0",
  lease: "10",
  grace: "10",
  patience: "60",
  retryDelay: "0",
  retryFactor: "2",
  retryMaxDelay: "1",
  maxOutput: "1024",
  partSize: "1024",
};

test.each([
  { workers: "1", shardCount: 32 },
  { workers: "4", shardCount: 32 },
  { workers: "5", shardCount: 40 },
  { workers: "256", shardCount: 2048 },
])("a run of $workers workers begins with $shardCount shards", ({ workers, shardCount }) => {
  expect(unwrap(readRunFlags(undefined, { ...FLAGS, workers })).shardCount).toBe(shardCount);
});

test("--shards decides, whatever the number of workers", () => {
  expect(unwrap(readRunFlags(undefined, { ...FLAGS, workers: "256", shards: "3" })).shardCount).toBe(3);
});
