// The engine forgets commits that are made while another process opens the file. They are acknowledged, and the next commit overwrites them.
// Nothing reports that. So no process may commit while one opens the store, and a process that dies, hangs or is busy must not
// keep the others from either for long. Opening the gate removes processes that have died, so gates are opened before these die.

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, open, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { Cursor, RunId, ShardId } from "@gossip/contracts";
import type { RunRecord, ShardRecord, Versioned } from "@gossip/coordination";
import { fsck } from "@gossip/coordination-fsck";
import { unwrap } from "@gossip/stdx";
import { effort } from "@gossip/tools/effort";
import { waitFor } from "@gossip/tools/fault-run";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { bound, fillStore, FILL_TENANT } from "../../fill-store.fixture.ts";
import { readMetas } from "../../open/meta-pages.ts";
import { openLmdbStore } from "../../open/open-lmdb-store.ts";
import { makeStore, type TemporaryStore } from "../../temporary-store.fixture.ts";
import { processes } from "../../worker-process.fixture.ts";
import type { GateUse } from "./gate-user.fixture.ts";
import { openDatabase } from "../open-database.ts";
import { GATE_FOLDER, GATE_TABLES, OpenGate, type GateTime } from "./open-gate.ts";
import { ReaderTable } from "./reader-table.ts";

const FIXTURE = "./engine/gate/gate-user.fixture.ts";
const RUN = RunId.fromRaw(1n);
const SHARD = ShardId.fromRaw(0n);
/** How often other processes open the store, at two at a time. Without the gate, one open in 200 loses a commit. */
const OPENS = effort({ usual: 200, exploring: 5000 });

/** Longer than any test. */
const NEVER_MS = 600_000;
const PATIENT = { commitMs: NEVER_MS, openMs: NEVER_MS };

let temporary: TemporaryStore;
let gates: OpenGate[] = [];
let hanging: ChildProcess[] = [];
beforeEach(async () => {
  temporary = await makeStore();
  await fillStore(temporary.store, { runs: 1, from: 1 });
});
afterEach(async () => {
  for (const child of hanging) child.kill("SIGKILL");
  for (const gate of gates) await gate.close();
  [gates, hanging] = [[], []];
  await temporary.dispose();
});
afterAll(() => processes.remove());

function makeGate(limits = PATIENT, time?: GateTime): OpenGate {
  const gate = new OpenGate(temporary.path, limits, time);
  gates.push(gate);
  return gate;
}

/** A time that passes only where a gate waits. */
function makeTime(): GateTime {
  let nowMs = 0;
  return {
    nowMs: () => nowMs,
    pause: async (ms) => {
      nowMs += ms;
      await setImmediate();
    },
  };
}

function start(kind: GateUse["kind"], { opens = 1 } = {}): Promise<ChildProcess> {
  return processes.start(FIXTURE, { kind, path: temporary.path, opens } satisfies GateUse);
}

/** Starts a process that hangs, and waits until it does what it hangs in. */
async function startHanging(kind: "Hang" | "Commit"): Promise<ChildProcess> {
  const child = await start(kind);
  await once(child.stdout!, "data");
  hanging.push(child);
  return child;
}

async function startAndKill(kind: "Hang" | "Commit"): Promise<void> {
  const child = await startHanging(kind);
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

/** Waits until a process is about to open the store. */
async function untilOpening(): Promise<void> {
  const opens = new ReaderTable(join(temporary.path, GATE_FOLDER, GATE_TABLES.opens), { keepsLines: false });
  while (opens.list().length === 0) await setImmediate();
  await opens.close();
}

function readShard(): Versioned<ShardRecord> {
  return unwrap(temporary.store.readShard(FILL_TENANT, { run: RUN, shard: SHARD })).shard as Versioned<ShardRecord>;
}

/** Each makes one commit, the `index`-th, and returns whether it is there. */
const COMMITS = {
  "a checkpoint": async (index: number) => {
    const { version: runGuard } = unwrap(temporary.store.readRun(FILL_TENANT, RUN)) as Versioned<RunRecord>;
    const { record: before, version: guard } = readShard();
    const cursor = Cursor.withLastKey(Buffer.concat([bound(0), Buffer.from(String(index))]));
    const shard = { guard, before, after: { ...before, cursor } };
    const [answer] = await temporary.store.commit([
      { kind: "UpdateShard", tenant: FILL_TENANT, run: RUN, shard, runGuard, hintAt: undefined },
    ]);
    return answer?.kind === "Committed" && readShard().version === answer.version;
  },
  "a registration": async (index: number) => {
    const { made } = await fillStore(temporary.store, { runs: 1, from: 2 + index });
    return (
      made === 1 && unwrap(temporary.store.readRun(FILL_TENANT, RunId.fromRaw(BigInt(2 + index)))).kind === "Found"
    );
  },
  "a note": async (index: number) => {
    const [address, value] = [{ tenant: FILL_TENANT, run: RUN }, Buffer.from(String(index))];
    const notes = [{ space: "rollup", key: Buffer.from("note"), value }] as const;
    await temporary.store.commit([{ kind: "WriteNotes", ...address, notes }]);
    const query = { ...address, space: "rollup", start: new Uint8Array(), end: undefined, limit: 1 } as const;
    const [note] = unwrap(temporary.store.listNotes(query)).items;
    return value.equals(note!.value);
  },
} as const;

/** Commits over and over until `over` settles. Counts the commits, and those that are lost. */
async function commitUntil(
  over: Promise<unknown>,
  what: keyof typeof COMMITS = "a checkpoint",
): Promise<{ readonly made: number; readonly lost: number }> {
  let isOver = false;
  void over.finally(() => (isOver = true));
  let [made, lost] = [0, 0];
  while (!isOver) if (!(await COMMITS[what](made++))) lost++;
  return { made, lost };
}

describe("commits and opens", () => {
  test("no commit is lost while other processes open the store over and over", { timeout: 600_000 }, async () => {
    const opening = Promise.all(
      [0, 1].map(async () => expect(await waitFor(await start("Open", { opens: OPENS }))).toMatchObject({ code: 0 })),
    );
    const { made, lost } = await commitUntil(opening);
    await opening;
    expect(made).toBeGreaterThan(0);
    expect(lost).toBe(0);
    expect(unwrap(await fsck(temporary.store.inspect())).findings).toEqual([]);
  });

  test.each(["a checkpoint", "a registration", "a note"] as const)(
    "%s is not made while another process opens the store, but afterwards",
    async (what) => {
      const looking = waitFor(await start("Look"));
      const { made, lost } = await commitUntil(looking, what);
      expect(made).toBeGreaterThan(0);
      expect(lost).toBe(0);
      expect(await looking).toMatchObject({ output: '{"isQuiet":true}' });
    },
  );

  test("an open waits for a commit that has begun", async () => {
    const db = openDatabase(temporary.path, "Written");
    let looking: ReturnType<typeof waitFor> | undefined;
    await makeGate().pass(async () => {
      looking = waitFor(await start("Look"));
      await untilOpening();
      await db.put(Buffer.of(0xff), Buffer.of(1), 1);
    });
    expect(await looking).toMatchObject({ output: '{"isQuiet":true}' });
    await db.close();
  });

  test("a commit that is called during an open begins after it", async () => {
    const gate = makeGate();
    let isOpen = false;
    const opening = gate.openAlone(() => (isOpen = true));
    const passing = gate.pass(() => Promise.resolve(isOpen));
    expect(await Promise.all([opening, passing])).toEqual([true, true]);
  });

  test("commits that were called during an open all begin, and what they throw is passed on", async () => {
    const gate = makeGate();
    const opening = gate.openAlone(() => {});
    const passed = Array.from({ length: 10 }, (_, index) => gate.pass(() => Promise.resolve(index)));
    const failed = gate.pass(() => Promise.reject(new Error("no")));
    await expect(failed).rejects.toThrow("no");
    expect(await Promise.all(passed)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    await opening;
  });

  test("an open that throws lets commits begin again", async () => {
    const gate = makeGate();
    const opening = gate.openAlone(() => {
      throw new Error("no");
    });
    await expect(opening).rejects.toThrow("no");
    expect(await gate.pass(() => Promise.resolve(1))).toBe(1);
    expect(await gate.openAlone(() => 2)).toBe(2);
  });
});

describe("a process that dies, hangs or is busy", { timeout: 30_000 }, () => {
  test("a process that was killed during a commit does not keep others from opening the store", async () => {
    const gate = makeGate();
    await startAndKill("Commit");
    expect(await gate.openAlone(() => 1)).toBe(1);
  });

  test("a thread that was ended during a commit does not keep others from opening the store", async () => {
    const script = await processes.prepare(FIXTURE);
    const use: GateUse = { kind: "Commit", path: temporary.path, opens: 0 };
    const thread = new Worker(script, { argv: [JSON.stringify(use)] });
    expect(await once(thread, "message")).toEqual(["begun"]);
    await thread.terminate();
    expect(await makeGate().openAlone(() => 1)).toBe(1);
  });

  test("a process that was killed while it opened the store does not keep others from commits and opens", async () => {
    const gate = makeGate();
    await startAndKill("Hang");
    expect(await gate.pass(() => Promise.resolve(1))).toBe(1);
    expect(await gate.openAlone(() => 2)).toBe(2);
  });

  test("a commit does not wait longer than its patience for a process that was stopped while it opened the store", async () => {
    (await startHanging("Hang")).kill("SIGSTOP");
    expect(await makeGate({ ...PATIENT, openMs: 50 }).pass(() => Promise.resolve(1))).toBe(1);
  });

  test("an open of a thread that has opened the store often is waited for like the first", async () => {
    const time = makeTime();
    const gate = makeGate({ ...PATIENT, openMs: 50 }, time);
    const opener = makeGate(PATIENT, time);
    while (time.nowMs() < 100) {
      const opening = opener.openAlone(() => {});
      await gate.pass(() => Promise.resolve());
      await opening;
      await gate.pass(() => Promise.resolve());
    }
    let isOpen = false;
    let opening: Promise<boolean> | undefined;
    let passing: Promise<boolean> | undefined;
    await makeGate().pass(async () => {
      opening = opener.openAlone(() => (isOpen = true));
      passing = gate.pass(() => Promise.resolve(isOpen));
      const untilMs = time.nowMs() + 10;
      while (time.nowMs() < untilMs) await setImmediate();
    });
    expect(await Promise.all([opening, passing])).toEqual([true, true]);
  });

  test("an open does not wait longer than its patience for a thread that is busy", async () => {
    await startHanging("Commit");
    expect(await makeGate({ ...PATIENT, commitMs: 50 }).openAlone(() => 1)).toBe(1);
  });

  test("an open for which commits may wait no longer starts over, and ends", async () => {
    const time = makeTime();
    const gate = makeGate({ commitMs: NEVER_MS, openMs: 20 }, time);
    let opening: Promise<number> | undefined;
    await makeGate().pass(async () => {
      opening = gate.openAlone(() => 1);
      while (time.nowMs() < 20) await setImmediate();
    });
    expect(await opening).toBe(1);
    // The pause before it starts over.
    expect(time.nowMs()).toBeGreaterThanOrEqual(220);
  });

  test("a commit that fails keeps no one from opening the store", async () => {
    const gate = makeGate();
    await expect(gate.pass(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(gate.isPassed).toBe(false);
    expect(await makeGate().openAlone(() => 1)).toBe(1);
  });

  test("processes open the store side by side, also where one of them hangs", async () => {
    await startHanging("Hang");
    expect(await Promise.all([makeGate().openAlone(() => 1), makeGate().openAlone(() => 2)])).toEqual([1, 2]);
  });
});

describe("the files of the gate", () => {
  const TABLES = Object.values(GATE_TABLES);

  test("nothing is ever committed to them, so that opening them loses nothing", async () => {
    await commitUntil(start("Open", { opens: 3 }).then(waitFor));
    for (const table of TABLES) {
      const file = await open(join(temporary.path, GATE_FOLDER, table, "data.mdb"));
      const { first, second } = await readMetas(file);
      await file.close();
      const empty = { transaction: 0n, entryCount: 0n };
      expect([first, second]).toMatchObject([empty, empty]);
    }
  });

  test.each([
    { name: "cut short", damage: (whole: Buffer) => whole.subarray(0, 5000) },
    { name: "overwritten", damage: (whole: Buffer) => Buffer.alloc(whole.length, 7) },
    { name: "damaged in its second page", damage: (whole: Buffer) => Buffer.from(whole).fill(0, 4096, 4200) },
    { name: "the file of a store", damage: (_whole: Buffer, store: Buffer) => store },
  ])("a file that is $name is reported, and may be removed", async ({ damage }) => {
    const path = join(temporary.path, "copy");
    await temporary.store.close();
    const store = await readFile(join(temporary.path, "data.mdb"));
    for (const table of TABLES) {
      const folder = join(path, GATE_FOLDER, table);
      await mkdir(folder, { recursive: true });
      await writeFile(join(path, "data.mdb"), store);
      const whole = await readFile(join(temporary.path, GATE_FOLDER, table, "data.mdb"));
      await writeFile(join(folder, "data.mdb"), damage(whole, store));
      expect(await openLmdbStore({ path })).toEqual({ ok: false, error: { kind: "GateDamaged" } });
      await rm(join(path, GATE_FOLDER), { recursive: true });
      const opened = unwrap(await openLmdbStore({ path }));
      expect(unwrap(await fsck(opened.inspect()))).toMatchObject({ runCount: 1, findings: [] });
      await opened.close();
    }
  });

  test.each([
    GATE_FOLDER,
    ...TABLES.flatMap((table) => [join(GATE_FOLDER, table), join(GATE_FOLDER, table, "data.mdb")]),
  ])("something else in the place of %s is reported", async (place) => {
    const path = join(temporary.path, "other");
    await mkdir(join(path, dirname(place)), { recursive: true });
    if (place.endsWith(".mdb")) await mkdir(join(path, place));
    else await writeFile(join(path, place), "");
    expect(await openLmdbStore({ path })).toEqual({ ok: false, error: { kind: "GateDamaged" } });
  });
});
