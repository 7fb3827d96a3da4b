import { LogicalTime, RunId, ShardId } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import { MAX_COUNTED_FAILURES } from "../../coordinator/failure-ledger.ts";
import { RANGE_EXHAUSTED } from "../../hashing/payload-hash.ts";
import type { FailureInput } from "../../records/item-failure.ts";
import type { Note } from "../../records/note.ts";
import type { WorkerInfo } from "../../records/worker-entry.ts";
import type { ConformanceCase } from "./conformance-case.ts";
import { at, KEY, op, OTHER_TENANT, RUN, SHARD, TENANT, text, worker, type World } from "./world.ts";

const OF_RUN = { tenant: TENANT, run: RUN } as const;

const failed = (key: string, fields: Partial<FailureInput> = {}): FailureInput => ({
  key: text(key),
  attempts: 3,
  reason: "ItemFailed",
  error: `cannot read ${key}`,
  ...fields,
});

async function failedKeys(world: World): Promise<string> {
  const { items } = unwrap(await world.coordinator.listFailures({ ...OF_RUN }));
  return items.map(({ key }) => new TextDecoder().decode(key)).join(" ");
}

async function failuresWithCheckpoints(world: World): Promise<void> {
  await world.seed();
  const { lease } = await world.acquire(7);
  const request = { tenant: TENANT, lease, cursor: at("d"), opId: op(1), failures: [failed("b"), failed("d")] };
  world.expectOutcome(await world.coordinator.checkpoint(request), "Executed");
  world.expect(unwrap(await world.coordinator.listFailures(OF_RUN)).items).toEqual([
    {
      key: text("b"),
      attempts: 3,
      reason: "ItemFailed",
      error: "cannot read b",
      at: LogicalTime.fromRaw(1n),
      shard: SHARD,
      worker: worker(7),
      workerName: undefined,
    },
    {
      key: text("d"),
      attempts: 3,
      reason: "ItemFailed",
      error: "cannot read d",
      at: LogicalTime.fromRaw(1n),
      shard: SHARD,
      worker: worker(7),
      workerName: undefined,
    },
  ]);
  // A replay records nothing, not even what its first execution did not have.
  world.expectOutcome(await world.coordinator.checkpoint({ ...request, failures: [failed("c")] }), "Replayed");
  world.expect(await failedKeys(world)).toBe("b d");
  // A refusal records nothing.
  world.expectRefusal(
    await world.coordinator.checkpoint({ ...request, opId: op(2), cursor: at("c"), failures: [failed("c")] }),
    "CursorRegression",
  );
  world.clock.set(1000n);
  world.expectRefusal(
    await world.coordinator.checkpoint({ ...request, opId: op(3), cursor: at("e"), failures: [failed("e")] }),
    "LeaseExpired",
  );
  world.expect(await failedKeys(world)).toBe("b d");
}

async function failuresWithTheEnd(world: World): Promise<void> {
  await world.seed();
  const session = await world.open(1);
  unwrap(
    await session.checkpoint(at("b"), { failures: [failed("a", { reason: "TimedOut", workerName: "host-1:42" })] }),
  );
  unwrap(await session.complete(RANGE_EXHAUSTED, { failures: [failed("c", { reason: "Unreadable" })] }));
  const { items } = unwrap(await world.coordinator.listFailures(OF_RUN));
  world.expect(items.map(({ reason, workerName }) => [reason, workerName])).toEqual([
    ["TimedOut", "host-1:42"],
    ["Unreadable", undefined],
  ]);
}

async function theSameItemAgain(world: World): Promise<void> {
  await world.seed();
  const session = await world.open(1);
  unwrap(await session.checkpoint(at("b"), { failures: [failed("b"), failed("b", { attempts: 9 })] }));
  unwrap(await session.checkpoint(at("c"), { failures: [failed("b", { attempts: 10 })] }));
  const { items } = unwrap(await world.coordinator.listFailures(OF_RUN));
  world.expect(items.map(({ attempts }) => attempts)).toEqual([10]);
}

async function pagesOfFailures(world: World): Promise<void> {
  await world.seed();
  const session = await world.open(1);
  const keys = Array.from({ length: 23 }, (_, index) => `k${String(index).padStart(2, "0")}`);
  for (const key of keys) unwrap(await session.checkpoint(at(key), { failures: [failed(key)] }));
  const listed: string[] = [];
  let after: Uint8Array | undefined;
  do {
    const page = unwrap(await world.coordinator.listFailures({ ...OF_RUN, limit: 5, after }));
    world.expect(page.items.length > 5).toBe(false);
    listed.push(...page.items.map(({ key }) => new TextDecoder().decode(key)));
    after = page.next;
  } while (after !== undefined);
  world.expect(listed).toEqual(keys);
  const range = { start: text("k05"), end: text("k07") };
  const part = unwrap(await world.coordinator.listFailures({ ...OF_RUN, range }));
  world.expect(part.items.map(({ key }) => new TextDecoder().decode(key))).toEqual(["k05", "k06"]);
  world.expect(unwrap(await world.coordinator.countFailures(OF_RUN))).toBe(23);
  world.expect(unwrap(await world.coordinator.countFailures({ ...OF_RUN, limit: 4 }))).toBe(4);
  world.expect(unwrap(await world.coordinator.countFailures({ ...OF_RUN, limit: MAX_COUNTED_FAILURES }))).toBe(23);
}

async function resolved(world: World): Promise<void> {
  await world.seed();
  const session = await world.open(1);
  unwrap(await session.checkpoint(at("d"), { failures: [failed("a"), failed("b"), failed("c")] }));
  const keys = ["b", "none", "b", "c"].map((key) => text(key));
  unwrap(await world.coordinator.resolveFailures({ ...OF_RUN, keys }));
  unwrap(await world.coordinator.resolveFailures({ ...OF_RUN, keys }));
  world.expect(await failedKeys(world)).toBe("a");
  const many = Array.from({ length: 300 }, (_, index) => text(`${index}`));
  unwrap(await world.coordinator.resolveFailures({ ...OF_RUN, keys: [...many, text("a")] }));
  world.expect(unwrap(await world.coordinator.countFailures(OF_RUN))).toBe(0);
}

async function boundedText(world: World): Promise<void> {
  await world.seed();
  const session = await world.open(1);
  const error = `\u0000\u001b[31m\ud800 x${"ä".repeat(2000)}`;
  unwrap(await session.checkpoint(at("a"), { failures: [failed("a", { error })] }));
  const [item] = unwrap(await world.coordinator.listFailures(OF_RUN)).items;
  world.expect(item!.error.startsWith("  [31m\ufffd xää")).toBe(true);
  world.expect(new TextEncoder().encode(item!.error).length).toBe(1023);
}

async function mostFailures(world: World): Promise<void> {
  await world.seed();
  const session = await world.open(1);
  const most = world.coordinator.maxFailuresPerCheckpoint;
  const long = (index: number) => `b${String(index).padStart(4095, "0")}`;
  const failures = Array.from({ length: most }, (_, index) => failed(long(index), { error: '\n"'.repeat(1024) }));
  unwrap(await session.checkpoint(at("c"), { failures }));
  world.expect(unwrap(await world.coordinator.countFailures(OF_RUN))).toBe(most);
  await world.expectViolation(() => session.checkpoint(at("d"), { failures: [...failures, failed("c")] }));
  await world.expectViolation(() => session.checkpoint(at("d"), { failures: [failed("e")] }));
  world.expect(unwrap(await world.coordinator.countFailures(OF_RUN))).toBe(most);
}

async function parkedDetail(world: World): Promise<void> {
  await world.seed();
  const session = await world.open(5);
  const detail = { item: text("k"), attempts: 4, error: "disk on fire", workerName: "w" };
  unwrap(await session.park("Poisoned", { detail }));
  const expected = { ...detail, shard: SHARD, worker: worker(5), at: LogicalTime.fromRaw(1n) };
  world.expect(unwrap(await world.coordinator.listParkedDetails(OF_RUN)).items).toEqual([expected]);
  world.expect(unwrap(await world.coordinator.getParkedDetail({ tenant: TENANT, key: KEY }))).toEqual(expected);
  world.expect((await world.shard()).parkReason).toBe("Poisoned");
  unwrap(await world.coordinator.unpark({ tenant: TENANT, key: KEY, opId: op(50) }));
  world.expect(unwrap(await world.coordinator.getParkedDetail({ tenant: TENANT, key: KEY }))).toBe(undefined);
  const next = await world.open(6);
  unwrap(await next.park("TooManyErrors"));
  world.expect(unwrap(await world.coordinator.listParkedDetails(OF_RUN)).items).toEqual([]);
}

async function listEntries(world: World): Promise<readonly Note[]> {
  const query = { ...OF_RUN, space: "worker", start: new Uint8Array(), end: undefined, limit: 10 } as const;
  return unwrap(await world.store.listNotes(query)).items;
}

async function workers(world: World): Promise<void> {
  await world.seed();
  const info: WorkerInfo = {
    name: "host-1:42",
    host: "host-1",
    pid: 42,
    version: "1.2.3",
    startedAt: LogicalTime.fromRaw(1n),
    shards: Array.from({ length: 70 }, (_, index) => ShardId.fromRaw(BigInt(index))),
    itemCount: 12,
    itemsPerSecond: 1.5,
  };
  const register = (by: number, fields: Partial<WorkerInfo> = {}) =>
    world.coordinator.registerWorker({ ...OF_RUN, worker: worker(by), info: { ...info, ...fields }, ttl: 10n });
  unwrap(await register(2));
  unwrap(await register(1, { name: "first", itemsPerSecond: undefined }));
  const { items } = unwrap(await world.coordinator.listWorkers(OF_RUN));
  world.expect(items.map(({ name }) => name)).toEqual(["first", "host-1:42"]);
  world.expect(items[1]).toEqual({
    ...info,
    worker: worker(2),
    shards: info.shards.slice(0, 64),
    shardCount: 70,
    at: LogicalTime.fromRaw(1n),
    expiresAt: LogicalTime.fromRaw(11n),
  });
  world.clock.set(6n);
  unwrap(await register(2));
  world.clock.set(11n);
  const names = async () => unwrap(await world.coordinator.listWorkers(OF_RUN)).items.map(({ name }) => name);
  world.expect(await names()).toEqual(["host-1:42"]);
  // The first one never unregistered. Its entry goes with the next worker that does, once it is old enough.
  unwrap(await register(3));
  const entries = async () => (await listEntries(world)).length;
  world.expect(await entries()).toBe(3);
  unwrap(await world.coordinator.unregisterWorker({ ...OF_RUN, worker: worker(3) }));
  world.expect(await entries()).toBe(2);
  world.clock.set(21n);
  unwrap(await world.coordinator.unregisterWorker({ ...OF_RUN, worker: worker(2) }));
  world.expect(await names()).toEqual([]);
  world.expect(await entries()).toBe(0);
}

async function markers(world: World): Promise<void> {
  await world.seed();
  const { lease } = await world.acquire(3);
  const shard = { tenant: TENANT, key: KEY };
  world.expect(unwrap(await world.coordinator.getMarker(shard))).toBe(undefined);
  for (const item of ["a", "b"]) unwrap(await world.coordinator.putMarker({ tenant: TENANT, lease, item: text(item) }));
  world.expect(unwrap(await world.coordinator.getMarker(shard))).toEqual({
    shard: SHARD,
    item: text("b"),
    worker: worker(3),
    fence: lease.fence,
    at: LogicalTime.fromRaw(1n),
  });
  unwrap(await world.coordinator.putMarker({ tenant: TENANT, lease, item: undefined }));
  world.expect(unwrap(await world.coordinator.getMarker(shard))).toBe(undefined);
}

async function withoutARun(world: World): Promise<void> {
  const { coordinator } = world;
  world.expectRefusal(await coordinator.listFailures(OF_RUN), "RunNotFound");
  world.expectRefusal(await coordinator.countFailures(OF_RUN), "RunNotFound");
  world.expectRefusal(await coordinator.resolveFailures({ ...OF_RUN, keys: [text("a")] }), "RunNotFound");
  world.expectRefusal(await coordinator.listWorkers(OF_RUN), "RunNotFound");
  await world.seed();
  const session = await world.open(1);
  unwrap(await session.complete(RANGE_EXHAUSTED, { failures: [failed("a")] }));
  world.expectRefusal(await coordinator.listFailures({ tenant: OTHER_TENANT, run: RUN }), "RunNotFound");
  world.expectRefusal(await coordinator.listFailures({ tenant: TENANT, run: RunId.fromRaw(9n) }), "RunNotFound");
  unwrap(await world.endRun("completeRun", 90));
  world.expect(await failedKeys(world)).toBe("a");
  unwrap(await coordinator.deleteRun(OF_RUN));
  world.expectRefusal(await coordinator.listFailures(OF_RUN), "RunNotFound");
  world.expectRefusal(await coordinator.resolveFailures({ ...OF_RUN, keys: [text("a")] }), "RunNotFound");
}

/** Failures, workers, parked shards and markers, as a coordinator offers them. */
export const noteCases: readonly ConformanceCase[] = [
  { name: "a checkpoint records failures exactly if it is executed", run: failuresWithCheckpoints },
  { name: "a completion records failures too", run: failuresWithTheEnd },
  { name: "an item is in the ledger once, with its latest failure", run: theSameItemAgain },
  { name: "failures are listed by key, in pages and by range, and counted up to a limit", run: pagesOfFailures },
  { name: "resolved failures leave the ledger, however many and however often", run: resolved },
  { name: "error text is cut to its limit and loses its control characters", run: boundedText },
  { name: "a checkpoint takes as many failures as the coordinator promises, and no more", run: mostFailures },
  { name: "a parked shard has its detail until it is unparked", run: parkedDetail },
  { name: "a registered worker is listed until it expires or unregisters", run: workers },
  { name: "a marker names the item until it is removed", run: markers },
  { name: "a run that does not exist has no notes, and a finished one keeps its own", run: withoutARun },
];
