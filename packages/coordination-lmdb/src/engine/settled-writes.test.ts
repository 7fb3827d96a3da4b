// The chain is the driver's own. Cut in the wrong place, writes that are under way are never answered; not cut at all, a process that writes fast
// spends its time collecting what is long over.

import { expect, test } from "vitest";
import { openDatabase } from "./open-database.ts";
import { SettledWrites, type PutDownWrite } from "./settled-writes.ts";
import { makeFolder, NO_GATE } from "../temporary-store.fixture.ts";
import { Rows } from "./rows.ts";

test("unlinks exactly the writes before the one that was reported", () => {
  const chain: PutDownWrite[] = Array.from({ length: 5 }, () => ({ next: null }));
  chain.forEach((write, index) => (write.next = chain[index + 1] ?? null));
  const settled = new SettledWrites();
  settled.cutBefore(chain[0]);
  expect(chain.map(({ next }) => next !== null)).toEqual([true, true, true, true, false]);
  settled.cutBefore(chain[2]);
  settled.cutBefore(chain[2]);
  expect(chain.map(({ next }) => next !== null)).toEqual([false, false, true, true, false]);
  settled.cutBefore(undefined);
  expect(chain.map(({ next }) => next !== null)).toEqual([false, false, true, true, false]);
  settled.cutBefore(chain[3]);
  expect(chain.map(({ next }) => next !== null)).toEqual([false, false, true, true, false]);
});

test("the list of the driver has this shape, and every write still settles", async () => {
  const folder = await makeFolder();
  const db = openDatabase(folder.path, "Written");
  const rows = new Rows(db, NO_GATE);
  const heads: PutDownWrite[] = [];
  // Behind the one that cuts, which was there first.
  db.on("aftercommit", ({ next }: { readonly next: PutDownWrite }) => heads.push(next));
  for (let round = 0; round < 20; round++) {
    const outcomes: Promise<unknown>[] = [];
    outcomes.push(
      rows.together(() => {
        outcomes.push(rows.ifVersion(Buffer.of(1), round, () => rows.put(Buffer.of(1), Buffer.of(round), round + 1)));
        for (let byte = 2; byte < 9; byte++) rows.put(Buffer.of(byte), Buffer.of(round));
      }),
    );
    if (round === 0) rows.put(Buffer.of(1), Buffer.of(0), 1);
    if (round % 3 === 0) outcomes.push(rows.transact(() => rows.put(Buffer.of(9), Buffer.of(round))));
    if (round % 4 === 0)
      outcomes.push(
        new Promise((resolve) => setImmediate(resolve)).then(() => rows.transact(() => rows.has(Buffer.of(9)))),
      );
    await Promise.all(outcomes);
  }
  // One commit a round at least: each round waits for its own.
  expect(heads.length).toBeGreaterThanOrEqual(20);
  expect(
    heads
      .slice(0, -1)
      .filter((head) => head !== heads.at(-1))
      .every(({ next }) => next === null),
  ).toBe(true);
  expect(heads.at(-1)!.next).not.toBeNull();
  await db.close();
  await folder.dispose();
});
