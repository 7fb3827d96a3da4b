// An item that never returns to the event loop stops everything that could say so. Another thread has to find it, and must
// not name one that is innocent.

import { describe, expect, test } from "vitest";
import { BlockWatch } from "./block-watch.ts";
import type { BlockedLoop } from "./keep-leases.ts";
import { LeaseTable } from "./lease-table.ts";
import { RunningItem } from "./running-item.ts";

describe("the running item", () => {
  test("is the one started last, as another thread sees it", () => {
    const mine = new RunningItem();
    const theirs = new RunningItem(mine.buffer);
    expect(theirs.key).toBeUndefined();
    mine.set(Uint8Array.of(1, 2, 3));
    expect(theirs.key).toEqual(Uint8Array.of(1, 2, 3));
    mine.set(Uint8Array.of(9));
    expect(theirs.key).toEqual(Uint8Array.of(9));
    expect(() => new RunningItem(new SharedArrayBuffer(8))).toThrow("a size and a key");
  });
});

describe("a loop that is blocked", () => {
  test("is reported with its item until it runs again, and a late beat is not", () => {
    let nowMs = 10_000;
    const [table, running] = [new LeaseTable(), new RunningItem()];
    const reports: (BlockedLoop | "Unblocked")[] = [];
    const watch = new BlockWatch({
      table,
      running,
      nowMs: () => nowMs,
      onBlocked: (blocked) => reports.push(blocked),
      onUnblocked: () => reports.push("Unblocked"),
    });
    table.beat(nowMs);
    running.set(Uint8Array.of(7));
    for (const passMs of [500, 1499, 1, 1000]) {
      nowMs += passMs;
      watch.tick();
    }
    table.beat(nowMs);
    watch.tick();
    watch.tick();
    const key = Uint8Array.of(7);
    expect(reports).toEqual([{ key, blockedMs: 2000 }, { key, blockedMs: 3000 }, "Unblocked"]);
  });
});
