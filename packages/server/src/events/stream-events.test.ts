// A reader that is cut off must be able to go on without a hole, and must learn of one that it cannot avoid.
import { OpId, RunId, TenantId } from "@gossip/contracts";
import { Coordinator, MemoryStore } from "@gossip/coordination";
import { ManualClock } from "@gossip/coordination/testing";
import { unwrap } from "@gossip/stdx";
import { afterEach, beforeEach, expect, test } from "vitest";
import { GossipServer } from "../server.ts";
import { EventLog } from "./event-log.ts";
import { OpaqueNumbers } from "./opaque-number.ts";

const tenant = TenantId.fromBytes(new Uint8Array(32).fill(1));
const other = TenantId.fromBytes(new Uint8Array(32).fill(2));
let server: GossipServer;
let coordinator: Coordinator;

beforeEach(async () => {
  const clock = new ManualClock(1_000n);
  coordinator = new Coordinator({ store: new MemoryStore(), clock });
  server = unwrap(await GossipServer.start({ coordinator, clock, listen: { port: 0 } }));
});
afterEach(() => server.close());

const create = async (owner: TenantId, run: bigint) =>
  unwrap(await coordinator.createRun({ tenant: owner, run: RunId.fromRaw(run), config: { leaseDuration: 9n } }));

/** Read from the stream until `count` lines match, then leave. */
async function read(headers: Record<string, string>, query: string, pattern: RegExp, count: number): Promise<string[]> {
  const response = await fetch(`${server.url}/v1/events?tenant=${tenant}${query}`, { headers });
  expect(response.status).toBe(200);
  const decoder = new TextDecoder();
  let text = "";
  for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(part, { stream: true });
    const found = text.split("\n").filter((line) => pattern.test(line));
    // Leaving the loop closes the connection.
    if (found.length >= count) return found;
  }
  return [];
}

test("events come as server-sent events, and a reader goes on after its last id", async () => {
  await create(tenant, 1n);
  await create(other, 2n);
  const first = await reading(() => create(tenant, 3n), {}, "");
  const data = JSON.parse(first[1]!.slice("data: ".length)) as object;
  expect(data).toMatchObject({ kind: "RunCreated", run: "0000000000000003" });
  const id = first[0]!.slice("id: ".length);
  await create(other, 4n);
  await create(tenant, 5n);
  const more = await read({ "last-event-id": id }, "", /^data/, 1);
  expect(more[0]).toContain('"run":"0000000000000005"');
});

test("lines of JSON, of one run", async () => {
  const lines = await reading(
    async () => {
      await create(tenant, 1n);
      await create(tenant, 2n);
      unwrap(await coordinator.cancelRun({ tenant, run: RunId.fromRaw(2n), opId: OpId.fromRaw(1n) }));
    },
    { accept: "application/x-ndjson" },
    "&run=0000000000000002",
    /^\{/,
    2,
  );
  expect(lines.map((line) => (JSON.parse(line) as { kind: string }).kind)).toEqual(["RunCreated", "RunCancelled"]);
});

/** Start to read, then do something, and return the lines. */
async function reading(
  act: () => Promise<unknown>,
  headers: Record<string, string>,
  query: string,
  pattern = /^(id|data)/,
  count = 2,
): Promise<string[]> {
  const lines = read(headers, query, pattern, count);
  for (;;) {
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    if (metrics.includes("gossip_event_streams 1\n")) break;
  }
  await act();
  return lines;
}

const KEY = new Uint8Array(16).fill(1);
const idOf = (number: number): string => new OpaqueNumbers(KEY).write(number);

test("an id shows nothing of how many events there were", () => {
  const ids = Array.from({ length: 100 }, (_, number) => idOf(number));
  expect(new Set(ids.map((id) => id.slice(0, 8))).size).toBe(100);
  expect(new Set(ids.map((id) => id.slice(-8))).size).toBe(100);
  expect(ids.map((id) => new OpaqueNumbers(KEY).tryRead(id))).toEqual(ids.map((_, number) => number));
  for (const other of ["", "e-3", "A".repeat(22), `${idOf(3)}A`])
    expect(new OpaqueNumbers(KEY).tryRead(other)).toBeUndefined();
});

test("an id that is unknown or too old is a gap", async () => {
  expect(await read({ "last-event-id": "elsewhere-7" }, "", /^event: gap/, 1)).toEqual(["event: gap"]);
  const log = new EventLog(KEY, () => 0);
  log.listen(() => {});
  const event = { kind: "RunCreated", tenant, run: RunId.fromRaw(1n), at: 1n } as never;
  for (let count = 0; count < 10_005; count++) log.add(event);
  expect(log.after(idOf(3)).hasGap).toBe(true);
  expect(log.after(idOf(10003))).toMatchObject({ hasGap: false, events: [{ number: 10_004 }, { number: 10_005 }] });
  expect(log.after(idOf(10005))).toEqual({ hasGap: false, events: [] });
  expect(log.after(new OpaqueNumbers(new Uint8Array(16).fill(2)).write(1)).hasGap).toBe(true);
});

test("without readers, events are kept for some minutes for those that were cut off, and then not at all", () => {
  let nowMs = 0;
  const log = new EventLog(KEY, () => nowMs);
  const event = { kind: "RunCreated", tenant, run: RunId.fromRaw(1n), at: 1n } as never;
  log.add(event);
  expect(log.after(idOf(0))).toEqual({ events: [], hasGap: true });
  const stop = log.listen(() => {});
  log.add(event);
  stop();
  nowMs += 299_999;
  log.add(event);
  expect(log.after(idOf(1))).toMatchObject({ hasGap: false, events: [{ id: idOf(2) }, { id: idOf(3) }] });
  nowMs++;
  log.add(event);
  expect(log.after(idOf(3))).toEqual({ events: [], hasGap: true });
  expect(log.after(idOf(4))).toEqual({ events: [], hasGap: false });
});
