// The engine forgets commits that are made while another process opens the file: it told their writers that they are made, and the next commit
// overwrites them. Nothing reports that. So no process may commit while one opens the store, and a process that dies, hangs or is busy must not
// keep the others from either for long.

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, open, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { Cursor, RunId, ShardId } from "@gossip/contracts";
import type { RunRecord, ShardRecord, Versioned } from "@gossip/coordination";
import { fsck } from "@gossip/coordination-fsck";
import { unwrap } from "@gossip/stdx";
import { effort } from "@gossip/tools/effort";
import { waitFor } from "@gossip/tools/fault-run";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { bound, fillStore, FILL_TENANT } from "../fill-store.fixture.ts";
import { readMetas } from "../open/meta-pages.ts";
import { openLmdbStore } from "../open/open-lmdb-store.ts";
import { makeStore, type TemporaryStore } from "../temporary-store.fixture.ts";
import { processes } from "../worker-process.fixture.ts";
import type { GateUse } from "./gate-user.fixture.ts";
import { openDatabase } from "./open-database.ts";
import { GATE_FOLDER, OpenGate } from "./open-gate.ts";

const FIXTURE = "./engine/gate-user.fixture.ts";
const RUN = RunId.fromRaw(1n);
const SHARD = ShardId.fromRaw(0n);
/** How often other processes open the store, at two at a time. Without the gate, one open in 200 loses a commit. */
const OPENS = effort({ usual: 200, exploring: 5000 });

/** Longer than any test. */
const NEVER_MS = 600_000;
const PATIENT = { patienceMs: NEVER_MS, staleMs: NEVER_MS };

let temporary: TemporaryStore;
let gates: OpenGate[] = [];
beforeEach(async () => {
  temporary = await makeStore();
  await fillStore(temporary.store, { runs: 1, from: 1 });
});
afterEach(async () => {
  for (const gate of gates) await gate.close();
  gates = [];
  await temporary.dispose();
});
afterAll(() => processes.remove());

function makeGate(limits = PATIENT): OpenGate {
  const gate = new OpenGate(temporary.path, limits);
  gates.push(gate);
  return gate;
}

function start(kind: GateUse["kind"], { opens = 1 } = {}): Promise<ChildProcess> {
  return processes.start(FIXTURE, { kind, path: temporary.path, opens } satisfies GateUse);
}

/** Starts a process that hangs, waits until it does what it hangs in, and kills it. */
async function startAndKill(kind: "Hang" | "Commit"): Promise<void> {
  const child = await start(kind);
  const ended = waitFor(child);
  await once(child.stdout!, "data");
  child.kill("SIGKILL");
  expect(await ended).toMatchObject({ signal: "SIGKILL" });
}

async function untilMarked(): Promise<void> {
  while (!existsSync(join(temporary.path, GATE_FOLDER, "opening"))) await new Promise((resolve) => setTimeout(resolve));
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
      await untilMarked();
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

describe("a process that dies, hangs or is busy", () => {
  test("a process that was killed during a commit does not keep others from opening the store", async () => {
    await startAndKill("Commit");
    expect(await makeGate().openAlone(() => 1)).toBe(1);
  });

  test("a thread that was ended during a commit does not keep others from opening the store", async () => {
    const script = await processes.prepare(FIXTURE);
    const use: GateUse = { kind: "Commit", path: temporary.path, opens: 0 };
    const thread = new Worker(script, { argv: [JSON.stringify(use)] });
    expect(await once(thread, "message")).toEqual(["begun"]);
    await thread.terminate();
    expect(await makeGate().openAlone(() => 1)).toBe(1);
  });

  test("a process that was killed while it opened the store does not stop commits for good", async () => {
    await startAndKill("Hang");
    const gate = makeGate({ patienceMs: NEVER_MS, staleMs: 50 });
    expect(await gate.pass(() => Promise.resolve(1))).toBe(1);
    // The mark is gone, too: the next commit does not wait.
    expect(existsSync(join(temporary.path, GATE_FOLDER, "opening"))).toBe(false);
  });

  test("a process that was killed while it opened the store does not keep others from that", async () => {
    await startAndKill("Hang");
    expect(await makeGate().openAlone(() => 1)).toBe(1);
  });

  test("an open does not wait longer than its patience for a thread that is busy", async () => {
    const gate = makeGate();
    let endCommit = (): void => {};
    const committing = gate.pass(() => new Promise<void>((resolve) => (endCommit = resolve)));
    expect(await makeGate({ patienceMs: 50, staleMs: NEVER_MS }).openAlone(() => 1)).toBe(1);
    endCommit();
    await committing;
  });

  test("a pass is given up soon after the last commit", async () => {
    const gate = makeGate();
    for (let commit = 0; commit < 3; commit++) await gate.pass(() => Promise.resolve());
    expect(await makeGate().openAlone(() => 1)).toBe(1);
  });
});

describe("the files of the gate", () => {
  test("nothing is ever committed to the gate, so that opening it loses nothing", async () => {
    await commitUntil(start("Open", { opens: 3 }).then(waitFor));
    const file = await open(join(temporary.path, GATE_FOLDER, "data.mdb"));
    const { first, second } = await readMetas(file);
    await file.close();
    expect([first, second]).toMatchObject([
      { transaction: 0n, entryCount: 0n },
      { transaction: 0n, entryCount: 0n },
    ]);
  });

  test.each([
    { name: "cut short", damage: (whole: Buffer) => whole.subarray(0, 5000) },
    { name: "overwritten", damage: (whole: Buffer) => Buffer.alloc(whole.length, 7) },
    { name: "damaged in its second page", damage: (whole: Buffer) => Buffer.from(whole).fill(0, 4096, 4200) },
  ])("a gate that is $name is reported, and may be removed", async ({ damage }) => {
    const path = join(temporary.path, "copy");
    await mkdir(join(path, GATE_FOLDER), { recursive: true });
    await temporary.store.close();
    await writeFile(join(path, "data.mdb"), await readFile(join(temporary.path, "data.mdb")));
    const whole = await readFile(join(temporary.path, GATE_FOLDER, "data.mdb"));
    await writeFile(join(path, GATE_FOLDER, "data.mdb"), damage(whole));
    expect(await openLmdbStore({ path })).toEqual({ ok: false, error: { kind: "GateDamaged" } });
  });
});
