// A page stays open overnight. A log that grows, or a reader that misses events without knowing, would end that.
import { RunId, ShardId, TenantId } from "@gossip/contracts";
import { expect, test } from "vitest";
import { ConsoleEventLog } from "./console-event-log.ts";

const place = { tenant: TenantId.ZERO, run: RunId.fromRaw(1n) };
const add = (log: ConsoleEventLog, count: number): void => {
  for (let index = 1; index <= count; index++)
    log.add(place, { kind: "ShardReleased", atMs: index, shard: ShardId.fromRaw(BigInt(index)) });
};

test("a reader continues where it was, and is notified of a gap if events are gone", () => {
  const log = new ConsoleEventLog("aa");
  const seen: string[] = [];
  const stop = log.listen(({ id }) => seen.push(id));
  add(log, 3);
  expect(seen).toEqual(["aa-1-1", "aa-2-2", "aa-3-3"]);
  stop();
  add(log, 2);
  expect(seen.length).toBe(3);
  expect(log.after("aa-3-3")).toMatchObject({ hasGap: false, events: [{ id: "aa-4-1" }, { id: "aa-5-2" }] });
  add(log, 20_000);
  const { events, hasGap } = log.after("aa-3-3");
  expect(hasGap).toBe(true);
  expect(events.length).toBe(5000);
  expect(events.at(-1)!.atMs).toBe(20_000);
});

test("after a restart the time of the last event counts, and nonsense is a gap", () => {
  const log = new ConsoleEventLog("bb");
  add(log, 10);
  expect(log.after("aa-99-7")).toMatchObject({ hasGap: true, events: [{ atMs: 8 }, { atMs: 9 }, { atMs: 10 }] });
  for (const id of ["", "x", "bb-1", "bb-1-", "-1-1"]) expect(log.after(id)).toEqual({ events: [], hasGap: true });
});

test("a reader that has seen nothing gets the newest events of its tenant and run", () => {
  const log = new ConsoleEventLog("dd");
  add(log, 400);
  const other = { tenant: TenantId.fromBytes(new Uint8Array(32).fill(9)), run: RunId.fromRaw(1n) };
  log.add(other, { kind: "RunDone", atMs: 500 });
  const recent = log.recent({ tenant: place.tenant, run: undefined });
  expect([recent.length, recent[0]!.atMs, recent.at(-1)!.atMs]).toEqual([300, 101, 400]);
  expect(log.recent({ tenant: other.tenant, run: "0000000000000001" })).toMatchObject([{ kind: "RunDone" }]);
  expect(log.recent({ tenant: place.tenant, run: "0000000000000002" })).toEqual([]);
});

test("the events of a shard are its own, newest first", () => {
  const log = new ConsoleEventLog("cc");
  add(log, 3);
  add(log, 2);
  expect(log.ofShard(place, "0000000000000002", 10).map(({ atMs }) => atMs)).toEqual([2, 2]);
  expect(log.ofShard({ ...place, run: RunId.fromRaw(2n) }, "0000000000000002", 10)).toEqual([]);
});
