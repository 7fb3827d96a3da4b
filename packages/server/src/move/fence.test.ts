// A fallback that takes over too early, or a writer that does not notice, makes a second owner. The writer may be dead, cut
// off from the store, or only slow.
import { RunId } from "@gossip/contracts";
import { MemoryStore } from "@gossip/coordination";
import { ManualClock } from "@gossip/coordination/testing";
import type { JournalEntry } from "@gossip/scope";
import { unwrap } from "@gossip/stdx";
import { expect, test } from "vitest";
import { parseClusterFile } from "../ownership/cluster-file.ts";
import { tenantOf } from "../ownership/cluster-nodes.fixture.ts";
import { ClusterMember } from "./cluster-member.ts";
import { StoreFences, type FenceRegister, type Takeover } from "./fence-register.ts";
import { Fence } from "./fence.ts";

const CLUSTER = unwrap(
  parseClusterFile(`
    cluster.node = [{ name = "a", address = "a:1" }, { name = "b", address = "b:1" }, { name = "c", address = "c:1" }]
    cluster.scope = [{ prefix = "t/1", writer = "a", fallback = "b" }, { prefix = "t/2", writer = "a" }]
  `),
);
const FENCED = [tenantOf("1"), RunId.fromRaw(1n)] as const;
const UNFENCED = [tenantOf("2"), RunId.fromRaw(1n)] as const;

class World {
  nowMs = 0;
  readonly takeovers: Takeover[] = [];
  readonly cutOff = new Set<string>();
  readonly journals = new Map<string, JournalEntry[]>();

  node(self: string) {
    const entries = this.journals.get(self) ?? [];
    this.journals.set(self, entries);
    const journal = {
      append: async (entry: JournalEntry) => {
        entries.push(entry);
      },
    };
    const member = unwrap(
      ClusterMember.open({ self, cluster: CLUSTER, journal, entries: [...entries], onBroken: () => {} }),
    );
    if (entries.length === 0) entries.push(member.node.checkpoint());
    const register: FenceRegister = {
      list: async () => {
        if (this.cutOff.has(self)) throw new Error("no answer");
        return [...this.takeovers];
      },
      put: async (takeover) => {
        this.takeovers.push(takeover);
      },
      remove: async () => {},
    };
    const fence = new Fence({ member, register, monotonicMs: () => this.nowMs, sleep: async () => {} });
    member.ownership.fence = fence;
    return { member, fence, owns: (run = FENCED) => member.ownership.isOwned(...run) };
  }
}

test("a writer that cannot read the register stops before its fallback takes over", async () => {
  const world = new World();
  const [a, b, c] = [world.node("a"), world.node("b"), world.node("c")];
  expect([a.owns(), a.owns(UNFENCED)]).toEqual([false, true]);
  let writerStoppedAtMs = -1;
  let takenAtMs = -1;
  for (; world.nowMs < 20_000; world.nowMs += 100) {
    if (world.nowMs === 3_000) world.cutOff.add("a");
    if (world.nowMs === 3_500) world.takeovers.push({ node: "a", by: "b" });
    // Nodes look at different moments.
    if (world.nowMs % 1_000 === 0) await a.fence.check();
    if (world.nowMs % 1_000 === 300) await b.fence.check();
    if (world.nowMs % 1_000 === 600) await c.fence.check();
    expect([world.nowMs, a.owns() && b.owns()]).toEqual([world.nowMs, false]);
    if (writerStoppedAtMs < 0 && world.nowMs > 0 && !a.owns()) writerStoppedAtMs = world.nowMs;
    if (takenAtMs < 0 && b.owns()) takenAtMs = world.nowMs;
  }
  expect(writerStoppedAtMs).toBeGreaterThan(3_000);
  expect(takenAtMs).toBeGreaterThan(writerStoppedAtMs);
  expect(c.member.ownership.route(...FENCED)).toMatchObject({ kind: "Misdirected", target: "b" });
  // A scope without a fallback has no other writer, and needs no fence.
  expect(a.owns(UNFENCED)).toBe(true);

  // The writer comes back, restarted: it stays out, whatever its journal says.
  world.cutOff.clear();
  const back = world.node("a");
  expect(back.owns()).toBe(false);
  await back.fence.check();
  expect([back.owns(), back.member.ownership.route(...FENCED).kind]).toEqual([false, "Misdirected"]);
  expect(b.member.node.snapshot.epoch).toBeGreaterThan(0);
});

test("a writer that reads the declaration stops at once", async () => {
  const world = new World();
  const a = world.node("a");
  await a.fence.check();
  expect(a.owns()).toBe(true);
  world.takeovers.push({ node: "a", by: "b" });
  world.nowMs = 1_000;
  await a.fence.check();
  expect(a.owns()).toBe(false);
});

test("the register is in the store, and every node reads the same", async () => {
  const store = new MemoryStore();
  const register = new StoreFences(store, new ManualClock(1_000n));
  expect(await register.list()).toEqual([]);
  await register.put({ node: "a", by: "b" });
  await register.put({ node: "a", by: "b" });
  await register.put({ node: "c", by: "b" });
  expect(await new StoreFences(store, new ManualClock(1n)).list()).toEqual([
    { node: "a", by: "b" },
    { node: "c", by: "b" },
  ]);
  await register.remove({ node: "a", by: "b" });
  expect(await register.list()).toEqual([{ node: "c", by: "b" }]);
});
