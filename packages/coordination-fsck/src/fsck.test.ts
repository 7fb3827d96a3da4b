// A check that finds nothing is believed. So each thing that can be wrong is made wrong in a store that was in order, and must be
// found; and stores that are in order, whatever has happened in them, must be left in peace.

import { Cursor, ShardId, ShardSpec, TenantId } from "@gossip/contracts";
import { MemoryStore, type NoteSpace, type ShardRecord } from "@gossip/coordination";
import { err, ok, unwrap } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { ArraySource } from "./array-source.fixture.ts";
import { FAMILY_RUN, FAMILY_TENANT, raiseFamily } from "./testing/index.ts";
import { isRepairable, type FsckFinding } from "./finding.ts";
import { fsck, repair } from "./fsck.ts";
import { inspectThroughPort } from "./inspect-through-port.ts";
import { RunCensus } from "./run-census.ts";

const place = { tenant: FAMILY_TENANT, run: FAMILY_RUN };
const GHOST = ShardId.fromRaw((1n << 63n) | 0xdeadn);

const store = new MemoryStore({ slabCapacity: 1 << 20 });
const records = await raiseFamily(store, { seed: 11, steps: 60 });

/** A family in order, and some of its members. */
async function makeFamily() {
  const source = await ArraySource.of(store);
  const find = (what: (record: ShardRecord) => boolean) => records.find(what)!;
  return {
    source,
    root: find(({ parent }) => parent === undefined),
    split: find(
      ({ status, cursor, spawned }) => status === "Split" && cursor.lastKey !== undefined && spawned.length === 2,
    ),
    cut: find(({ status, spawned }) => status !== "Split" && spawned.length > 0),
    child: find(({ parent, spawned }) => parent !== undefined && spawned.length === 0),
    active: find(({ status }) => status === "Active"),
  };
}

async function findingsOf(source: ArraySource): Promise<readonly FsckFinding[]> {
  return unwrap(await fsck(source)).findings;
}

test.each(Array.from({ length: 12 }, (_, seed) => seed))(
  "a family that came about as it should is in order (seed %i)",
  async (seed) => {
    const other = new MemoryStore({ slabCapacity: 1 << 20 });
    const family = await raiseFamily(other, { seed, steps: 80 });
    const report = unwrap(await fsck(await ArraySource.of(other)));
    expect(report).toEqual({
      tenantCount: 1,
      runCount: 1,
      shardCount: family.length,
      deletedRunCount: 0,
      findings: [],
      findingCount: 0,
    });
    // Else there would be no family to speak of.
    expect(family.filter(({ status }) => status === "Split").length).toBeGreaterThan(0);
    expect(family.filter(({ status, spawned }) => status !== "Split" && spawned.length > 0).length).toBeGreaterThan(0);
  },
);

describe("notes", () => {
  const note = (space: NoteSpace, value: string) =>
    ok({ space, key: new Uint8Array(8), value: new TextEncoder().encode(value) });

  test("that are in order are not reported, in any space", async () => {
    const { source } = await makeFamily();
    const notes = [];
    const view = await inspectThroughPort(store).look();
    for await (const run of view.runs()) for await (const each of run.notes!()) notes.push(each);
    expect(notes.length).toBeGreaterThan(5);
    source.runs[0]!.notes = [...notes, note("setting", "{}"), note("rollup", "[1]")];
    expect(await findingsOf(source)).toEqual([]);
  });

  test("that cannot be read, or are of another space", async () => {
    const { source } = await makeFamily();
    source.runs[0]!.notes = [err("damaged"), note("failure", "{}"), note("setting", "{"), note("worker", "1")];
    expect(await findingsOf(source)).toEqual([
      { kind: "NoteFault", ...place, space: undefined, detail: "damaged" },
      { kind: "NoteFault", ...place, space: "failure", detail: "its value is not a document of its space" },
      { kind: "NoteFault", ...place, space: "setting", detail: "its value is not a document of its space" },
      { kind: "NoteFault", ...place, space: "worker", detail: "its value is not a document of its space" },
    ]);
  });

  test("that are too large", async () => {
    const { source } = await makeFamily();
    const large = { space: "setting", key: new Uint8Array(4097), value: new Uint8Array(1) } as const;
    source.runs[0]!.notes = [ok(large), ok({ ...large, key: new Uint8Array(1), value: new Uint8Array(16_385) })];
    expect((await findingsOf(source)).map(({ kind }) => kind)).toEqual(["NoteFault", "NoteFault"]);
  });

  test.each(["Missing", "Deleted"] as const)("of a run that is %s", async (kind) => {
    const { source } = await makeFamily();
    const [run] = source.runs;
    source.runs = [
      { ...run!, record: { kind }, shards: [], entries: [], census: undefined, notes: [note("setting", "1")] },
    ];
    source.recount();
    expect(await findingsOf(source)).toEqual([{ kind: "NotesWithoutRun", ...place, noteCount: 1 }]);
  });

  test("of a removed run that are still to be swept", async () => {
    const { source } = await makeFamily();
    const [run] = source.runs;
    source.runs = [{ ...run!, record: { kind: "Removed" }, shards: [], entries: [], notes: [note("failure", "{")] }];
    source.recount();
    expect(await findingsOf(source)).toEqual([]);
  });
});

describe("records", () => {
  test("one that cannot be read is named, and nothing is concluded from its absence", async () => {
    const { source, child } = await makeFamily();
    const run = source.runs[0]!;
    run.shards = run.shards.map((stored) =>
      stored.shard === child.shard ? { shard: child.shard, record: err("the checksum differs") } : stored,
    );
    expect(await findingsOf(source)).toEqual([
      { kind: "UnreadableRecord", ...place, shard: child.shard, detail: "the checksum differs" },
    ]);
  });

  test("a run that cannot be read is named", async () => {
    const { source } = await makeFamily();
    source.runs[0]!.record = { kind: "Unreadable", detail: "the record ends early" };
    expect(await findingsOf(source)).toEqual([
      { kind: "UnreadableRecord", ...place, shard: undefined, detail: "the record ends early" },
    ]);
  });

  test("one that breaks a rule of its own is named, with the rule", async () => {
    const { source, active } = await makeFamily();
    source.change(active.shard, () => ({ parkReason: "Other" }));
    expect(await findingsOf(source)).toMatchObject([
      { kind: "RecordFault", shard: active.shard, detail: expect.stringContaining("park reason") },
    ]);
  });

  test("a run that breaks a rule of its own is named", async () => {
    const { source } = await makeFamily();
    const { record } = source.runs[0]!.record as { record: object };
    source.runs[0]!.record = { kind: "Found", record: { ...record, completedAt: 9n } as never };
    expect(await findingsOf(source)).toMatchObject([
      { kind: "RecordFault", shard: undefined, detail: expect.stringContaining("terminal") },
    ]);
  });

  test.each([
    ["another shard's", { shard: GHOST }],
    ["another tenant's", { tenant: TenantId.ZERO }],
  ])("one that is %s is not taken for this one", async (_whose, fields) => {
    const { source, child } = await makeFamily();
    source.change(child.shard, () => fields as Partial<ShardRecord>);
    expect(await findingsOf(source)).toEqual([
      { kind: "UnreadableRecord", ...place, shard: child.shard, detail: "it is stored under another's key" },
    ]);
  });

  test("shards of a run that is not there are counted", async () => {
    const { source } = await makeFamily();
    source.runs[0]!.record = { kind: "Missing" };
    expect(await findingsOf(source)).toEqual([{ kind: "ShardsWithoutRun", ...place, shardCount: records.length }]);
  });

  test("what a removed run has left is none of its business", async () => {
    const { source } = await makeFamily();
    source.runs[0]!.record = { kind: "Removed" };
    source.runs[0]!.entries = [];
    source.counts = [];
    expect(unwrap(await fsck(source))).toMatchObject({ runCount: 0, shardCount: 0, deletedRunCount: 1, findings: [] });
  });
});

describe("lineage", () => {
  const details = async (source: ArraySource) => (await findingsOf(source)).filter(({ kind }) => kind === "Lineage");

  test("a child that is gone", async () => {
    const { source, child } = await makeFamily();
    const run = source.runs[0]!;
    run.shards = run.shards.filter(({ shard }) => shard !== child.shard);
    expect(await details(source)).toEqual([
      { kind: "Lineage", ...place, shard: child.parent, detail: "a shard that it has spawned is not there" },
    ]);
  });

  test("a registered shard that is gone", async () => {
    const { source, root } = await makeFamily();
    const run = source.runs[0]!;
    run.shards = run.shards.filter(({ shard }) => shard !== root.shard);
    expect(await details(source)).toContainEqual({
      kind: "Lineage",
      ...place,
      shard: root.shard,
      detail: "it was registered and is not there",
    });
  });

  test("a shard that was never registered", async () => {
    const { source, root } = await makeFamily();
    const stray = ShardId.fromRaw(77n);
    source.runs[0]!.shards.push({ shard: stray, record: ok({ ...root, shard: stray, spawned: [], status: "Done" }) });
    expect(await details(source)).toEqual([
      { kind: "Lineage", ...place, shard: stray, detail: "it is no child and was not registered" },
    ]);
  });

  test("a child that its parent does not know", async () => {
    const { source, child } = await makeFamily();
    source.runs[0]!.shards.push({ shard: GHOST, record: ok({ ...child, shard: GHOST }) });
    expect(await details(source)).toEqual([
      { kind: "Lineage", ...place, shard: GHOST, detail: "its parent does not know it" },
    ]);
  });

  test("a child that names another parent", async () => {
    const { source, child, root } = await makeFamily();
    const other = records.find(({ shard }) => shard !== child.parent && shard !== root.shard && shard !== child.shard)!;
    source.change(child.shard, () => ({ parent: other.shard }));
    const found = await details(source);
    expect(found).toContainEqual({
      kind: "Lineage",
      ...place,
      shard: child.parent,
      detail: "a shard that it has spawned names another parent",
    });
    expect(found).toContainEqual({
      kind: "Lineage",
      ...place,
      shard: child.shard,
      detail: "its parent does not know it",
    });
  });

  test("two shards that are each other's parents", async () => {
    const { source, child } = await makeFamily();
    const [a, b] = [GHOST, ShardId.fromRaw(GHOST + 1n)];
    source.runs[0]!.shards.push(
      { shard: a, record: ok({ ...child, shard: a, parent: b, spawned: [b] }) },
      { shard: b, record: ok({ ...child, shard: b, parent: a, spawned: [a] }) },
    );
    const detail = "its ancestors go round in a circle";
    expect(await details(source)).toEqual([a, b].map((shard) => ({ kind: "Lineage", ...place, shard, detail })));
  });

  test("a shard that was spawned twice", async () => {
    const { source, cut } = await makeFamily();
    source.change(cut.shard, ({ spawned }) => ({ spawned: [...spawned, spawned[0]!] }));
    expect(await details(source)).toEqual([
      { kind: "Lineage", ...place, shard: cut.shard, detail: "it has spawned a shard twice" },
    ]);
  });
});

describe("coverage", () => {
  const withRange = ({ spec }: ShardRecord, ends: { start?: Uint8Array; end?: Uint8Array }) => ({
    spec: ShardSpec.withRange({ start: ends.start ?? spec.keyRangeStart, end: ends.end ?? spec.keyRangeEnd }),
    cursor: Cursor.initial(),
  });
  const after = (bytes: Uint8Array) => Uint8Array.of(...bytes, 1);
  const coverage = async (source: ArraySource) => (await findingsOf(source)).filter(({ kind }) => kind === "Coverage");

  test("children that leave out a part of what was split", async () => {
    const { source, split } = await makeFamily();
    const first = records.find(({ shard }) => shard === split.spawned[0])!;
    source.change(first.shard, (record) => withRange(record, { start: after(record.spec.keyRangeStart) }));
    expect(await coverage(source)).toContainEqual({ kind: "Coverage", ...place, shard: split.shard, fault: "Gap" });
  });

  test("a child that begins before what was split", async () => {
    const { source, split } = await makeFamily();
    source.change(split.spawned[0]!, (record) => withRange(record, { start: Uint8Array.of(0) }));
    expect((await coverage(source)).length).toBeGreaterThan(0);
  });

  test.each([
    ["Gap", -1],
    ["Outside", 1],
  ] as const)("a last child that ends elsewhere: %s", async (fault, direction) => {
    const { source } = await makeFamily();
    const leaf = (id: ShardId) => records.find(({ shard, spawned }) => shard === id && spawned.length === 0);
    const split = records.find(
      ({ status, spawned }) => status === "Split" && spawned.length === 2 && leaf(spawned[1]!) !== undefined,
    )!;
    source.change(split.spawned[1]!, (record) => {
      const [high, low] = record.spec.keyRangeEnd as unknown as [number, number];
      const end =
        direction < 0
          ? Uint8Array.of(high - (low === 0 ? 1 : 0), low === 0 ? 0xff : low - 1)
          : after(record.spec.keyRangeEnd);
      return withRange(record, { end });
    });
    expect(await coverage(source)).toContainEqual({ kind: "Coverage", ...place, shard: split.shard, fault });
  });

  test("two children that have the same keys", async () => {
    const { source, split } = await makeFamily();
    const [first, second] = split.spawned.map((id) => records.find(({ shard }) => shard === id)!);
    source.change(second!.shard, (record) => withRange(record, { start: after(first!.spec.keyRangeStart) }));
    expect(await coverage(source)).toContainEqual({ kind: "Coverage", ...place, shard: split.shard, fault: "Overlap" });
  });

  test("a shard that was cut short, and what was cut off begins later", async () => {
    const { source, cut } = await makeFamily();
    source.change(cut.spawned.at(-1)!, (record) => withRange(record, { start: after(record.spec.keyRangeStart) }));
    expect(await coverage(source)).toContainEqual({ kind: "Coverage", ...place, shard: cut.shard, fault: "Gap" });
  });

  test("a shard that was cut short and still has what was cut off", async () => {
    const { source, cut } = await makeFamily();
    const residual = records.find(({ shard }) => shard === cut.spawned.at(-1))!;
    source.change(cut.shard, () => ({
      spec: ShardSpec.withRange({ start: cut.spec.keyRangeStart, end: residual.spec.keyRangeEnd }),
    }));
    expect(await coverage(source)).toContainEqual({ kind: "Coverage", ...place, shard: cut.shard, fault: "Overlap" });
  });

  test("registered shards that run into each other", async () => {
    const { source } = await makeFamily();
    const [first, second] = records.filter(({ parent }) => parent === undefined);
    // Its own children are cut off from it then, which is another finding.
    source.change(second!.shard, (record) => withRange(record, { start: after(first!.spec.keyRangeStart) }));
    expect(await coverage(source)).toContainEqual({
      kind: "Coverage",
      ...place,
      shard: first!.shard,
      fault: "Overlap",
    });
  });

  test("an heir that has not come as far as the one it took over from", async () => {
    const { source, split } = await makeFamily();
    const heir = split.spawned
      .map((id) => records.find(({ shard }) => shard === id)!)
      .find(({ spec }) => ShardSpec.containsKey(spec, split.cursor.lastKey!))!;
    source.change(heir.shard, () => ({ cursor: Cursor.initial() }));
    expect(await findingsOf(source)).toContainEqual({ kind: "LostProgress", ...place, shard: split.shard });
  });
});

describe("indexes and counts", () => {
  test("an entry that is missing, and one that should not be there", async () => {
    const { source, active } = await makeFamily();
    const run = source.runs[0]!;
    const done = records.find(({ status }) => status !== "Active")!;
    run.entries = run.entries.filter(({ key }) => key !== `active ${active.shard}`);
    run.entries.push(
      { index: "active", shard: done.shard, key: `active ${done.shard}` },
      { index: "pair", shard: undefined, key: "pair 99" },
    );
    const findings = await findingsOf(source);
    expect(findings).toEqual([
      { kind: "MissingEntry", ...place, shard: active.shard, index: "active" },
      { kind: "StrayEntry", ...place, shard: done.shard, index: "active" },
      { kind: "StrayEntry", ...place, shard: undefined, index: "pair" },
    ]);
    expect(findings.every(isRepairable)).toBe(true);
  });

  test("an entry that several shards need is missing for each of them", async () => {
    const { source, root } = await makeFamily();
    const run = source.runs[0]!;
    run.entries = run.entries.filter(({ key }) => key !== `pair ${root.shard / 2n}`);
    expect((await findingsOf(source)).map(({ kind }) => kind)).toEqual(["MissingEntry", "MissingEntry"]);
  });

  test("entries of a shard that cannot be read are not judged", async () => {
    const { source, active } = await makeFamily();
    const run = source.runs[0]!;
    run.shards = run.shards.map((stored) =>
      stored.shard === active.shard ? { ...stored, record: err("damaged") } : stored,
    );
    expect((await findingsOf(source)).map(({ kind }) => kind)).toEqual(["UnreadableRecord"]);
  });

  test.each(["Run", "Tenant", "Total"] as const)("a count that is wrong or missing: %s", async (scope) => {
    const { source } = await makeFamily();
    source.counts = source.counts.filter((count) => count.scope !== scope);
    const findings = await findingsOf(source);
    expect(findings).toMatchObject([{ kind: "WrongCount", scope, stored: 0, counted: records.length }]);
    expect(findings.every(isRepairable)).toBe(true);
    source.countScopes.delete(scope);
    expect(await findingsOf(source)).toEqual([]);
  });

  test("a count of what does not exist", async () => {
    const { source } = await makeFamily();
    source.counts.push({ scope: "Tenant", tenant: TenantId.ZERO, run: undefined, count: 4 });
    expect(await findingsOf(source)).toMatchObject([
      { kind: "WrongCount", scope: "Tenant", tenant: TenantId.ZERO, stored: 4, counted: 0 },
    ]);
  });
});

describe("status counts", () => {
  test.each(["Done", "Split", "Parked"] as const)("a wrong count of shards that are %s is found", async (scope) => {
    const { source } = await makeFamily();
    const run = source.runs[0]!;
    const counted = run.statusCounts![scope];
    run.statusCounts = { ...run.statusCounts!, [scope]: counted + 2 };
    const findings = await findingsOf(source);
    expect(findings).toEqual([{ kind: "WrongCount", scope, ...place, stored: counted + 2, counted }]);
    expect(findings.every(isRepairable)).toBe(true);
  });

  test("a run without counts is not judged by them, nor is one with a shard that cannot be read", async () => {
    const { source, active } = await makeFamily();
    const run = source.runs[0]!;
    run.statusCounts = undefined;
    expect(await findingsOf(source)).toEqual([]);
    run.statusCounts = { Done: 0, Split: 0, Parked: 0 };
    run.shards = run.shards.map((each) => (each.shard === active.shard ? { ...each, record: err("damaged") } : each));
    expect((await findingsOf(source)).map(({ kind }) => kind)).not.toContain("WrongCount");
  });
});

describe("censuses and lookups", () => {
  test("a record that vanished with its entries, and left the counts right, is missed by the census", async () => {
    const { source, cut } = await makeFamily();
    const run = source.runs[0]!;
    // The residual at the end of a cut shard's list leaves a gap in nothing but the lineage; without that even less would show.
    const lost = cut.spawned.at(-1)!;
    run.shards = run.shards.filter(({ shard }) => shard !== lost);
    source.recount();
    expect(await findingsOf(source)).toContainEqual({
      kind: "WrongCensus",
      ...place,
      stored: records.length,
      counted: records.length - 1,
    });
  });

  test("a shard in place of another is noticed though their number is right", async () => {
    const { source } = await makeFamily();
    const run = source.runs[0]!;
    const [first, ...others] = run.shards.map(({ shard }) => shard);
    run.census = RunCensus.of([...others, ShardId.fromRaw(first! ^ 1n)]);
    const findings = await findingsOf(source);
    expect(findings).toEqual([{ kind: "WrongCensus", ...place, stored: records.length, counted: records.length }]);
    expect(findings.some(isRepairable)).toBe(false);
  });

  test("a run that lost all of its shards, its record too", async () => {
    const { source } = await makeFamily();
    const run = source.runs[0]!;
    Object.assign(run, { record: { kind: "Missing" }, shards: [], entries: [] });
    source.recount();
    expect(await findingsOf(source)).toEqual([{ kind: "WrongCensus", ...place, stored: records.length, counted: 0 }]);
  });

  test("a run from before there were censuses is not judged by one", async () => {
    const { source } = await makeFamily();
    source.runs[0]!.census = undefined;
    expect(await findingsOf(source)).toEqual([]);
  });

  test("records and entries that are listed and cannot be looked up are named", async () => {
    const { source, active, root } = await makeFamily();
    source.runs[0]!.unfindable = new Set<unknown>([root.shard, `active ${active.shard}`]);
    const findings = await findingsOf(source);
    expect(findings).toEqual([
      { kind: "NotFoundByKey", ...place, shard: active.shard, index: "active" },
      { kind: "NotFoundByKey", ...place, shard: root.shard, index: undefined },
    ]);
    expect(findings.some(isRepairable)).toBe(false);
  });
});

describe("the report", () => {
  test("keeps up to the given number of findings, and counts the rest", async () => {
    const { source } = await makeFamily();
    source.runs[0]!.entries = [];
    const all = unwrap(await fsck(source));
    const some = unwrap(await fsck(source, { maxFindings: 2 }));
    expect(some.findings).toEqual(all.findings.slice(0, 2));
    expect(some.findingCount).toBe(all.findingCount);
    expect(all.findingCount).toBe(all.findings.length);
  });

  test("a store that cannot be read is a failure, not a clean bill", async () => {
    const { source } = await makeFamily();
    source.failure = new Error("no");
    expect(await fsck(source)).toMatchObject({ ok: false, error: { kind: "Transient" } });
    expect(await repair(source)).toMatchObject({ ok: false, error: { kind: "Transient" } });
  });

  test("a mistake in the program is not hidden in an answer", async () => {
    const { source } = await makeFamily();
    await expect(fsck(source, { maxFindings: -1 })).rejects.toThrow("most findings");
    await expect(fsck(source, null as never)).rejects.toThrow("fsck options");
    await expect(fsck(store as never)).rejects.toThrow("FsckSource");
    await expect(repair(undefined as never)).rejects.toThrow("FsckSource");
  });
});
