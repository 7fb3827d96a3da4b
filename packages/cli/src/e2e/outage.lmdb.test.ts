// A full disk is the outage of an embedded store. It ends when there is room again.
import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLmdbStore } from "@gossip/coordination-lmdb";
import { unwrap } from "@gossip/stdx";
import { describe, test, vi } from "vitest";
import { OUTAGES, surviveOutage } from "./outage.fixture.ts";

const NO_DISK = "a small disk could not be mounted: that takes the superuser";

describe("an embedded store whose disk is full and then freed", () => {
  const cases = OUTAGES.flatMap((outage) => [
    { outage, name: outage.name, where: "elsewhere", isOnSameDisk: false },
    { outage, name: outage.name, where: "on the same disk", isOnSameDisk: true },
  ]);
  const title = "after $name loses and doubles nothing, with results $where";
  test.each(cases)(title, { timeout: 900_000 }, async ({ outage, isOnSameDisk }) => {
    // Mounted below, so `context.skip` is not available here: the reason is printed.
    const folder = mkdtempSync(join(tmpdir(), "gossip-disk-"));
    if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=4096k", "tmpfs", folder]).status !== 0) {
      rmSync(folder, { recursive: true, force: true });
      process.stdout.write(`skipped: ${NO_DISK}\n`);
      return;
    }
    // The driver prints the failure too.
    const printed = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const filler = join(folder, "filler");
    try {
      const store = unwrap(await openLmdbStore({ path: join(folder, "store") }));
      let isFull = false;
      const begin = async (): Promise<void> => {
        isFull = true;
        fill(filler);
      };
      const end = async (): Promise<void> => rmSync(filler);
      const padding = (): number => (isFull ? 12_000 : 0);
      const place = isOnSameDisk ? { folder } : {};
      await surviveOutage({ store, run: 1n, outage, begin, end, padding, ...place });
      await store.close();
    } finally {
      printed.mockRestore();
      spawnSync("umount", ["-l", folder]);
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

/** Write until the disk is full. */
function fill(path: string): void {
  const file = openSync(path, "w");
  try {
    for (const size of [65_536, 4096])
      try {
        for (;;) writeSync(file, Buffer.alloc(size));
      } catch {
        // No space is left for a piece of this size.
      }
  } finally {
    closeSync(file);
  }
}
