import { RunId } from "@gossip/contracts";
import { assert, compareBytes, unwrap } from "@gossip/stdx";
import {
  MAX_NOTE_KEY_SIZE,
  MAX_NOTE_VALUE_SIZE,
  MAX_NOTES_PER_SET,
  MAX_NOTES_SIZE,
  type GuardedNoteWrite,
  type Note,
  type NoteSpace,
} from "../../records/note.ts";
import type { ListNotesQuery } from "../../store/store-reads.ts";
import type { WriteNotesSet } from "../../store/write-set.ts";
import type { ConformanceCase } from "./conformance-case.ts";
import { commit, makeRun, makeShard, mustCommit, now, putRun, read, update } from "./store-steps.ts";
import { OTHER_TENANT, RUN, SHARD, TENANT, text, type World } from "./world.ts";

const json = (value: unknown): Uint8Array => text(JSON.stringify(value));
const failure = (key: string | Uint8Array, value: unknown = { error: "no" }): GuardedNoteWrite => ({
  space: "failure",
  key: typeof key === "string" ? text(key) : key,
  value: json(value),
});
const removal = (key: string): GuardedNoteWrite => ({ space: "failure", key: text(key), value: undefined });
const writeNotes = (notes: readonly GuardedNoteWrite[], fields: Partial<WriteNotesSet> = {}): WriteNotesSet => ({
  kind: "WriteNotes",
  tenant: TENANT,
  run: RUN,
  notes,
  ...fields,
});

/** Every note of a space, in pages of `limit`. */
async function listAll(world: World, query: Partial<ListNotesQuery> = {}): Promise<readonly Note[]> {
  const base = { tenant: TENANT, run: RUN, space: "failure", end: undefined, limit: 1000 } as const;
  const notes: Note[] = [];
  let start: Uint8Array | undefined = query.start ?? new Uint8Array();
  while (start !== undefined) {
    const page: Awaited<ReturnType<typeof world.store.listNotes>> = await world.store.listNotes({
      ...base,
      ...query,
      start,
    });
    const { items, next } = unwrap(page);
    world.expect(items.length > (query.limit ?? 1000)).toBe(false);
    notes.push(...items);
    start = next;
  }
  return notes;
}

async function keysOf(world: World, query: Partial<ListNotesQuery> = {}): Promise<string> {
  return (await listAll(world, query)).map(({ key }) => new TextDecoder().decode(key)).join(" ");
}

async function count(world: World, limit = 1000, space: NoteSpace = "failure"): Promise<number> {
  return unwrap(await world.store.countNotes({ tenant: TENANT, run: RUN, space, limit }));
}

/** Keys that a store may confuse: empty, with the least and greatest bytes, prefixes of each other, and long ones. */
function awkwardKeys(): Uint8Array[] {
  const bytes = (...values: number[]) => Uint8Array.from(values);
  const long = (size: number, last: number) =>
    Uint8Array.from({ length: size }, (_, at) => (at === size - 1 ? last : 7));
  const short = [[], [0], [0, 0], [0, 1], [0, 255], [1], [47], [255], [255, 0], [255, 255]].map((key) => bytes(...key));
  const sizes = [255, 256, 511, 512, 513, 895, 896, 897, 1023, 1024, 1025, 1978, 2705, MAX_NOTE_KEY_SIZE];
  return [...short, ...sizes.flatMap((size) => [long(size, 0), long(size, 7), long(size, 255)])];
}

async function comeBackInOrder(world: World): Promise<void> {
  await mustCommit(world, putRun());
  const keys = awkwardKeys();
  const notes = keys.map((key, index) => failure(key, { index, text: "ä\u0000\ud83d\ude00'\"\\" }));
  // Neither in order nor all at once.
  const shuffled = notes.map((_, index) => notes[(index * 29) % notes.length]!);
  world.expect(new Set(shuffled).size).toBe(notes.length);
  for (let from = 0; from < shuffled.length; from += 5)
    await mustCommit(world, writeNotes(shuffled.slice(from, from + 5)));
  const expected = notes.toSorted((a, b) => compareBytes(a.key, b.key));
  for (const limit of [1, 3, 1000]) world.expect(await listAll(world, { limit })).toEqual(expected);
}

async function ranges(world: World): Promise<void> {
  await mustCommit(world, putRun());
  const keys = awkwardKeys().sort(compareBytes);
  for (let from = 0; from < keys.length; from += 5)
    await mustCommit(world, writeNotes(keys.slice(from, from + 5).map((key) => failure(key))));
  for (const at of [0, 1, 7, 12, 20, 27, 33, keys.length - 1]) {
    const key = keys[at]!;
    const after = Uint8Array.from([...key, 0]);
    const sizesFrom = async (query: Partial<ListNotesQuery>) =>
      (await listAll(world, { limit: 4, ...query })).map((note) => note.key);
    world.expect(await sizesFrom({ start: key })).toEqual(keys.slice(at));
    world.expect(await sizesFrom({ start: after })).toEqual(keys.slice(at + 1));
    world.expect(await sizesFrom({ end: key })).toEqual(keys.slice(0, at));
    world.expect(await sizesFrom({ start: key, end: after })).toEqual([key]);
  }
}

async function withShard(world: World): Promise<void> {
  await mustCommit(world, putRun());
  const stale = await read(world);
  await mustCommit(world, update(stale.shard, { attempts: 1 }, { notes: [failure("b"), failure("a", 1)] }));
  world.expect(await keysOf(world)).toBe("a b");
  const refused = update(stale.shard, { attempts: 2 }, { notes: [failure("c"), removal("a")] });
  world.expect(await commit(world, refused)).toMatchObject({ kind: "Conflict" });
  world.expect(await keysOf(world)).toBe("a b");
  const fresh = await read(world);
  const ofOtherRun = update(fresh.shard, { attempts: 2 }, { runGuard: "none", notes: [failure("c")] });
  world.expect(await commit(world, ofOtherRun)).toMatchObject({ kind: "Conflict" });
  world.expect(await keysOf(world)).toBe("a b");
  // Notes are replaced and removed too, and a change of state carries them like a checkpoint does.
  const parked = update(
    fresh.shard,
    { status: "Parked", parkReason: "Poisoned" },
    { notes: [failure("a", 2), removal("b")] },
  );
  await mustCommit(world, parked);
  world.expect(await listAll(world)).toEqual([failure("a", 2)]);
  world.expect((await read(world)).shard.record.status).toBe("Parked");
}

async function inBatches(world: World): Promise<void> {
  const shards = [20n, 21n, 22n, 23n].map((id) => makeShard(id));
  await mustCommit(world, putRun({ created: shards }));
  const reads = await Promise.all(shards.map(async ({ shard }) => (await read(world, shard)).shard));
  await mustCommit(world, update(reads[2]!, { attempts: 9 }));
  const sets = reads.map((shard, index) =>
    update(shard, { attempts: 1 }, { hintAt: now, ...(index === 0 ? {} : { notes: [failure(`k${index}`)] }) }),
  );
  const answers = await world.store.commit(sets);
  world.expect(answers.map(({ kind }) => kind)).toEqual(["Committed", "Committed", "Conflict", "Committed"]);
  world.expect(answers.map((answer) => "hint" in answer && answer.hint?.availableCount)).toEqual([4, 4, false, 4]);
  world.expect(await keysOf(world)).toBe("k1 k3");
  // Several shards may name the same item.
  const again = await Promise.all(shards.map(async ({ shard }) => (await read(world, shard)).shard));
  const same = again.map((shard) => update(shard, { attempts: 2 }, { notes: [failure("same"), failure("also")] }));
  world.expect((await world.store.commit(same)).map(({ kind }) => kind)).toEqual(same.map(() => "Committed"));
  world.expect(await keysOf(world)).toBe("also k1 k3 same");
}

async function alone(world: World): Promise<void> {
  world.expect(await commit(world, writeNotes([failure("a")]))).toMatchObject({ kind: "Conflict" });
  const version = await mustCommit(world, putRun());
  await mustCommit(world, writeNotes([failure("a", 1), failure("b", 1)]));
  await mustCommit(world, writeNotes([failure("a", 2), removal("b"), removal("c")]));
  world.expect(await listAll(world)).toEqual([failure("a", 2)]);
  // The run is as it was.
  world.expect((await read(world)).run.version).toBe(version);
  await mustCommit(world, writeNotes([]));
}

async function guarded(world: World): Promise<void> {
  await mustCommit(world, putRun());
  const absent = { ...failure("a", 1), guard: "absent" } as const;
  await mustCommit(world, writeNotes([absent]));
  const expectConflict = async (...notes: GuardedNoteWrite[]) =>
    world.expect(await commit(world, writeNotes(notes))).toMatchObject({ kind: "Conflict" });
  await expectConflict(absent);
  await expectConflict(failure("b"), { ...failure("a", 2), guard: json(7) });
  await expectConflict(failure("b"), { ...removal("a"), guard: json(7) });
  await expectConflict({ ...failure("z", 2), guard: json(1) }, failure("b"));
  await expectConflict({ ...removal("z"), guard: json(1) });
  world.expect(await listAll(world)).toEqual([failure("a", 1)]);
  await mustCommit(
    world,
    writeNotes([
      { ...failure("a", 2), guard: json(1) },
      { ...failure("b"), guard: "absent" },
    ]),
  );
  await mustCommit(
    world,
    writeNotes([
      { ...removal("a"), guard: json(2) },
      { ...removal("z"), guard: "absent" },
    ]),
  );
  world.expect(await keysOf(world)).toBe("b");
  // Of writers with the same guard, one wins.
  const racing = [1, 2, 3, 4].map((winner) =>
    commit(world, writeNotes([{ ...failure("r", winner), guard: "absent" }])),
  );
  const kinds = (await Promise.all(racing)).map(({ kind }) => kind);
  world.expect(kinds.filter((kind) => kind === "Committed").length).toBe(1);
}

async function spacesAndRuns(world: World): Promise<void> {
  const other = RunId.fromRaw(2n);
  await mustCommit(world, putRun());
  await mustCommit(
    world,
    putRun({ run: other, after: makeRun({ run: other, status: "Initializing", rootShards: [] }), created: [] }),
  );
  await mustCommit(world, writeNotes([failure("mine"), { space: "setting", key: text("mine"), value: json(1) }]));
  await mustCommit(world, writeNotes([failure("other")], { run: other }));
  world.expect(await keysOf(world)).toBe("mine");
  world.expect(await keysOf(world, { space: "setting" })).toBe("mine");
  world.expect(await keysOf(world, { space: "marker" })).toBe("");
  world.expect(await keysOf(world, { run: other })).toBe("other");
  world.expect(await keysOf(world, { tenant: OTHER_TENANT })).toBe("");
  world.expect(await keysOf(world, { run: RunId.fromRaw(3n) })).toBe("");
  const stranger = writeNotes([failure("theirs")], { tenant: OTHER_TENANT });
  world.expect(await commit(world, stranger)).toMatchObject({ kind: "Conflict" });
}

async function counting(world: World): Promise<void> {
  world.expect(await count(world)).toBe(0);
  await mustCommit(world, putRun());
  world.expect(await count(world)).toBe(0);
  const keys = Array.from({ length: 12 }, (_, index) => `k${index}`);
  await mustCommit(world, writeNotes(keys.map((key) => failure(key))));
  await mustCommit(world, writeNotes(keys.map((key) => failure(key, 2))));
  await mustCommit(world, writeNotes([removal("k3"), removal("none")]));
  for (const [limit, expected] of [
    [1, 1],
    [10, 10],
    [11, 11],
    [12, 11],
    [1000, 11],
  ] as const)
    world.expect(await count(world, limit)).toBe(expected);
  world.expect(await count(world, 1000, "parked")).toBe(0);
}

async function removedWithTheRun(world: World): Promise<void> {
  const other = RunId.fromRaw(2n);
  const version = await mustCommit(world, putRun());
  await mustCommit(
    world,
    putRun({ run: other, after: makeRun({ run: other, status: "Initializing", rootShards: [] }), created: [] }),
  );
  await mustCommit(world, writeNotes([failure("a"), { space: "marker", key: text("m"), value: json(1) }]));
  await mustCommit(world, writeNotes([failure("kept")], { run: other }));
  await mustCommit(world, { kind: "RemoveRun", tenant: TENANT, run: RUN, guard: version });
  world.expect(await keysOf(world)).toBe("");
  world.expect(await keysOf(world, { space: "marker" })).toBe("");
  world.expect(await count(world)).toBe(0);
  world.expect(await commit(world, writeNotes([failure("late")]))).toMatchObject({ kind: "Conflict" });
  world.expect(await keysOf(world, { run: other })).toBe("kept");
}

async function largestSets(world: World): Promise<void> {
  await mustCommit(world, putRun());
  const most = world.store.traits?.maxNotesPerSet ?? MAX_NOTES_PER_SET;
  world.expect(most).toBeGreaterThan(7);
  const keys = Array.from({ length: most }, (_, index) => new Uint8Array(MAX_NOTE_KEY_SIZE).fill(index));
  const room = Math.min(MAX_NOTE_VALUE_SIZE, Math.floor(MAX_NOTES_SIZE / most) - MAX_NOTE_KEY_SIZE);
  const value = json("v".repeat(room - 2));
  const { shard } = await read(world);
  const notes = keys.map((key) => ({ space: "failure", key, value }) as const);
  await mustCommit(world, update(shard, { attempts: 1 }, { hintAt: now, notes }));
  world.expect((await listAll(world, { limit: 10 })).length).toBe(most);
  await mustCommit(world, writeNotes(notes.slice(0, most / 2).map((note) => ({ ...note, guard: value }))));
  await mustCommit(world, writeNotes(notes.map((note) => ({ ...note, value: undefined }))));
  world.expect(await count(world)).toBe(0);
  const large = json("x".repeat(MAX_NOTE_VALUE_SIZE - 2));
  await mustCommit(world, writeNotes([{ space: "rollup", key: keys[0]!, value: large }]));
  world.expect(await listAll(world, { space: "rollup" })).toMatchObject([{ value: large }]);
}

async function bytesAreTheStoresOwn(world: World): Promise<void> {
  await mustCommit(world, putRun());
  const note = failure("key");
  assert(note.value !== undefined, "the note has a value");
  await mustCommit(world, writeNotes([note]));
  note.key.fill(0xff);
  note.value.fill(0xff);
  const [first] = await listAll(world);
  first!.key.fill(0xfe);
  first!.value.fill(0xfe);
  world.expect(await listAll(world)).toEqual([failure("key")]);
  world.expect((await read(world, SHARD)).shard.record.shard).toBe(SHARD);
}

/** Notes, as the store port has them. */
export const noteStoreCases: readonly ConformanceCase[] = [
  { name: "notes are listed by key, whatever the page size and however long the keys", run: comeBackInOrder },
  { name: "a list of notes starts and ends exactly at its bounds", run: ranges },
  { name: "a shard's notes are written exactly if the shard is", run: withShard },
  { name: "each update of a batch writes its own notes or none", run: inBatches },
  { name: "notes can be written alone if the run exists, and leave the run as it is", run: alone },
  { name: "a set of notes is written only if all its guards hold, by one of several writers", run: guarded },
  { name: "notes of other spaces, runs and tenants are kept apart", run: spacesAndRuns },
  { name: "notes are counted up to the limit, each key once", run: counting },
  { name: "a removed run takes its notes with it", run: removedWithTheRun },
  { name: "the largest sets of notes are accepted", run: largestSets },
  { name: "a store keeps its own copies of keys and values", run: bytesAreTheStoresOwn },
];
