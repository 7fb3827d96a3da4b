// The engine marks a folder as used with locks that belong to the whole process, and POSIX drops all of them when the process closes any
// descriptor of the lock file. If that happens, the next process to open the folder believes that it is alone, and resets the mutexes and the
// table of readers that this process is using: writers hang, and pages are reused under readers.

import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { RunId } from "@gossip/contracts";
import { fsck } from "@gossip/coordination-fsck";
import { unwrap } from "@gossip/stdx";
import { waitFor } from "@gossip/tools/fault-run";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { fillStore, FILL_TENANT } from "../fill-store.fixture.ts";
import { openLmdbStore } from "./open-lmdb-store.ts";
import type { ThreadOrder } from "../store-thread.fixture.ts";
import { makeStore, type TemporaryStore } from "../temporary-store.fixture.ts";
import { processes } from "../worker-process.fixture.ts";

let temporary: TemporaryStore;
let cleanUps: (() => Promise<void>)[] = [];
function afterTest(cleanUp: () => Promise<void>): void {
  cleanUps.push(cleanUp);
}
beforeEach(async () => {
  temporary = await makeStore();
});
afterEach(async () => {
  for (const cleanUp of cleanUps) await cleanUp();
  cleanUps = [];
  await temporary.dispose();
});
afterAll(() => processes.remove());

/** The readers that another process finds when it opens the folder. It finds none of ours if it believes that it is alone. */
async function readersSeenElsewhere(): Promise<string> {
  const { code, output } = await waitFor(await processes.start("./list-readers.fixture.ts", { path: temporary.path }));
  expect(code).toBe(0);
  return output;
}

async function openSecond() {
  return unwrap(await openLmdbStore({ path: temporary.path, durability: "Written" }));
}

async function startThread(): Promise<Worker> {
  const script = await processes.prepare("./store-thread.fixture.ts");
  const thread = new Worker(script, { workerData: temporary.path });
  await once(thread, "message");
  return thread;
}

async function ask(thread: Worker, order: ThreadOrder): Promise<unknown> {
  const answered = once(thread, "message");
  thread.postMessage(order);
  return (await answered)[0];
}

test.each<{ readonly name: string; readonly happens: () => Promise<void> }>([
  { name: "nothing more", happens: async () => {} },
  {
    name: "a second store is open in the process",
    happens: async () => {
      const second = await openSecond();
      afterTest(() => second.close());
    },
  },
  { name: "a second store was opened and closed", happens: async () => (await openSecond()).close() },
  {
    name: "another durability was refused",
    happens: async () => expect(await openLmdbStore({ path: temporary.path })).toMatchObject({ ok: false }),
  },
  {
    name: "a thread has a store of its own",
    happens: async () => {
      const thread = await startThread();
      afterTest(async () => void (await thread.terminate()));
    },
  },
  {
    name: "a thread closed its store",
    happens: async () => void (await ask(await startThread(), { kind: "Close" })),
  },
  { name: "a thread was ended", happens: async () => void (await (await startThread()).terminate()) },
])("a process that opens the folder sees that this one uses it, if $name", async ({ happens }) => {
  await fillStore(temporary.store, { runs: 1, from: 1 });
  await happens();
  const view = await temporary.store.inspect().look();
  afterTest(() => view.close());
  expect(await readersSeenElsewhere()).toContain(` ${process.pid} `);
});

test("two stores on one folder in one process write in turn, and each sees what the other wrote", async () => {
  const second = await openSecond();
  const stores = [temporary.store, second];
  await Promise.all(
    stores.map(async (store, index) => {
      for (let run = 1 + index; run <= 40; run += 2)
        expect(await fillStore(store, { runs: 1, from: run })).toMatchObject({ made: 1 });
    }),
  );
  for (const store of stores) {
    for (let run = 1; run <= 40; run++)
      expect(unwrap(store.readRun(FILL_TENANT, RunId.fromRaw(BigInt(run)))).kind).toBe("Found");
    expect(unwrap(await fsck(store.inspect()))).toMatchObject({ runCount: 40, findings: [] });
  }
  await second.close();
  expect(await fillStore(temporary.store, { runs: 1, from: 41 })).toMatchObject({ made: 1 });
});

test("stores of several threads write at the same time, and continue when another thread closes its store", async () => {
  const [first, second] = await Promise.all([startThread(), startThread()]);
  const made = await Promise.all([
    ask(first, { kind: "Fill", from: 100, runs: 20 }),
    ask(second, { kind: "Fill", from: 200, runs: 20 }),
    fillStore(temporary.store, { runs: 20, from: 1 }),
  ]);
  expect(made).toMatchObject([20, 20, { made: 20 }]);
  expect(await ask(first, { kind: "Close" })).toBe("Closed");
  expect(await ask(second, { kind: "Fill", from: 300, runs: 5 })).toBe(5);
  // Without closing its store: the driver does that for it.
  await second.terminate();
  expect(await fillStore(temporary.store, { runs: 1, from: 50 })).toMatchObject({ made: 1 });
  expect(unwrap(await fsck(temporary.store.inspect()))).toMatchObject({ runCount: 66, findings: [] });
});
