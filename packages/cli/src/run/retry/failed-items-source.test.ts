// A retry of a folder that could not be read covers a range of keys, which a split may cut. A source that reads beyond
// its shard parks the shard.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import { Coordinator, MemoryStore, systemClock } from "@gossip/coordination";
import { unwrap } from "@gossip/stdx";
import { fileTreeSource } from "@gossip/worker";
import { describeSource } from "@gossip/worker/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FailedItemsSource } from "./failed-items-source.ts";

const INSIDE = Array.from({ length: 12 }, (_, index) => `closed/${String.fromCharCode(0x62 + index)}`);
const request = { tenant: TenantId.ZERO, run: RunId.fromRaw(1n) };
const coordinator = new Coordinator({ store: new MemoryStore(), clock: systemClock(Date.now) });
const text = (key: Uint8Array): string => Buffer.from(key).toString();
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "gossip-retry-"));
  mkdirSync(join(folder, "closed/inner"), { recursive: true });
  for (const name of ["a", ...INSIDE, "closed/inner/d", "closed.e", "x"]) writeFileSync(join(folder, name), "");
  const shard = ShardId.fromRaw(1n);
  const shards = [
    { shard, spec: ShardSpec.withRange({ start: Buffer.from("A"), end: Buffer.from("~") }), cursor: Cursor.initial() },
  ];
  const config = { leaseDuration: 100_000n };
  unwrap(await coordinator.createRunWithShards({ ...request, config, shards, opId: OpId.fromRaw(1n) }));
  const session = unwrap(
    await coordinator.openSession({ ...request, key: { run: request.run, shard }, worker: WorkerId.fromRaw(1n) }),
  );
  const failed = { attempts: 1, error: "EACCES" } as const;
  const failures = [
    { ...failed, key: Buffer.from("a"), reason: "ItemFailed" as const },
    { ...failed, key: Buffer.from("closed/"), reason: "Unreadable" as const },
  ];
  unwrap(await session.checkpoint(Cursor.withLastKey(Buffer.from("x")), { failures }));
});
afterAll(() => rmSync(folder, { recursive: true }));

describeSource(
  "the failed items of a run",
  () => ({
    source: new FailedItemsSource({
      opened: { coordinator },
      request,
      doneRetries: [],
      source: fileTreeSource({ root: folder }),
    }),
    keys: ["a", ...INSIDE, "closed/inner/d"].map((key) => Buffer.from(key)).sort((a, b) => a.compare(b)),
  }),
  { describe, expect, test },
);

test("an estimate counts the failed items, and leaves out a folder whose contents are not known", async () => {
  const source = new FailedItemsSource({
    opened: { coordinator },
    request,
    doneRetries: [],
    source: fileTreeSource({ root: folder }),
  });
  const estimates = [];
  for await (const each of source.estimate({ signal: new AbortController().signal })) estimates.push(each);
  expect(estimates.length).toBe(1);
  expect(estimates[0]!.spans.map(({ start, end, items }) => [text(start), text(end), items])).toEqual([
    ["a", "closed/", 1],
  ]);
});
