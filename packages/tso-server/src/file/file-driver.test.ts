// The file driver is all that stands between a restart and a timestamp issued twice. So: whatever a crash
// or a rotten disk leaves behind, an opener finds the acknowledged bound, one above it, or refuses.
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unwrap } from "@gossip/stdx";
import { Epoch, PHYSICAL_MS_MAX } from "@gossip/tso";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { describeConsensusDriver } from "../testing/describe-consensus-driver.ts";
import type { DriverFixture } from "../testing/driver-fixture.ts";
import { crc32c } from "./crc32c.ts";
import { FileDriver } from "./file-driver.ts";
import type { SlotIo } from "./slot-io.ts";
import { decodeState, encodeSlot, SLOT_RECORD_SIZE, SLOT_STRIDE, STATE_FILE_SIZE } from "./slot-record.ts";

// Nothing here waits on a clock; a busy machine may still be slow.
vi.setConfig({ testTimeout: 60_000 });

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tso-file-"));
});
afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

async function opened(wrapIo?: (io: SlotIo) => SlotIo): Promise<FileDriver> {
  return unwrap(await FileDriver.open({ directory, ...(wrapIo === undefined ? {} : { wrapIo }) }));
}

async function persisted(...bounds: readonly number[]): Promise<void> {
  const driver = await opened();
  for (const bound of bounds)
    expect(await driver.persistHighWater(bound, Epoch.ZERO)).toEqual({ ok: true, value: bound });
  await driver.close();
}

const statePath = (): string => join(directory, "state");

describeConsensusDriver(
  "FileDriver",
  async (): Promise<DriverFixture> => {
    const folder = await mkdtemp(join(tmpdir(), "tso-conformance-"));
    const open = async (): Promise<FileDriver> => unwrap(await FileDriver.open({ directory: folder }));
    return {
      open,
      openSecond: async () => {
        const second = await FileDriver.open({ directory: folder });
        if (!second.ok) return "refused";
        await second.value.close();
        return "opened";
      },
      spoil: () => writeFile(join(folder, "state"), Buffer.alloc(STATE_FILE_SIZE, 0xa5)),
      leaveTemporary: () => writeFile(join(folder, "state.tmp"), "half a sta"),
      dispose: () => rm(folder, { recursive: true, force: true }),
    };
  },
  { describe, test, can: ["openSecond", "spoil", "leaveTemporary"] },
);

describe("a state file", () => {
  test("torn at any byte gives the old bound or the new one", async () => {
    await persisted(5000, 6000);
    const whole = await readFile(statePath());
    const slot = unwrap(decodeState(whole)).nextSlot;
    const next = encodeSlot(7000);
    for (let size = 0; size <= SLOT_RECORD_SIZE; size++) {
      const torn = Buffer.from(whole);
      next.copy(torn, slot * SLOT_STRIDE, 0, size);
      await writeFile(statePath(), torn);
      const driver = await opened();
      const bound = unwrap(await driver.loadHighWater());
      expect([6000, 7000]).toContain(bound);
      // And what is persisted on top of the tear can be read back.
      expect(unwrap(await driver.persistHighWater(8000, Epoch.ZERO))).toBe(8000);
      await driver.close();
      const again = await opened();
      expect(unwrap(await again.loadHighWater())).toBe(8000);
      await again.close();
    }
  });

  test("with any one bit flipped gives the bound it held, or refuses", async () => {
    await persisted(5000, 6000);
    const whole = await readFile(statePath());
    let refused = 0;
    for (const slot of [0, 1]) {
      for (let bit = 0; bit < SLOT_RECORD_SIZE * 8; bit++) {
        const flipped = Buffer.from(whole);
        flipped[slot * SLOT_STRIDE + (bit >> 3)]! ^= 1 << (bit & 7);
        await writeFile(statePath(), flipped);
        const driver = await FileDriver.open({ directory });
        if (!driver.ok) {
          expect(driver.error.kind).toBe("CorruptState");
          refused += 1;
          continue;
        }
        expect(unwrap(await driver.value.loadHighWater())).toBe(6000);
        await driver.value.close();
      }
    }
    // Both copies would have to be hit.
    expect(refused).toBe(0);
  });

  test("torn and then flipped never gives less than was acknowledged", async () => {
    await persisted(5000, 6000);
    const whole = await readFile(statePath());
    const slot = unwrap(decodeState(whole)).nextSlot;
    for (const size of [1, 19, 20, 21, 39]) {
      const torn = Buffer.from(whole);
      encodeSlot(7000).copy(torn, slot * SLOT_STRIDE, 0, size);
      for (let bit = 0; bit < SLOT_RECORD_SIZE * 8; bit += 3) {
        const flipped = Buffer.from(torn);
        flipped[slot * SLOT_STRIDE + (bit >> 3)]! ^= 1 << (bit & 7);
        await writeFile(statePath(), flipped);
        const driver = await FileDriver.open({ directory });
        if (!driver.ok) continue;
        expect(unwrap(await driver.value.loadHighWater())).toBeGreaterThanOrEqual(6000);
        await driver.value.close();
      }
    }
  });

  test("cut short at any length is refused", async () => {
    await persisted(5000);
    const whole = await readFile(statePath());
    for (const size of [0, 1, 19, 20, 40, SLOT_STRIDE - 1, SLOT_STRIDE, SLOT_STRIDE + 39, STATE_FILE_SIZE - 1]) {
      await writeFile(statePath(), whole.subarray(0, size));
      expect(await FileDriver.open({ directory })).toEqual({
        ok: false,
        error: { kind: "CorruptState", path: statePath(), flaw: { kind: "TooShort", size } },
      });
    }
  });

  test("alternates between its slots, one write and one sync a persist", async () => {
    const log: string[] = [];
    const driver = await opened((io) => ({
      write: (bytes, position) => {
        log.push(`write ${bytes.length} at ${position}`);
        return io.write(bytes, position);
      },
      datasync: () => {
        log.push("sync");
        return io.datasync();
      },
      close: () => io.close(),
    }));
    log.length = 0;
    for (const bound of [10, 20, 15, 30]) expect((await driver.persistHighWater(bound, Epoch.ZERO)).ok).toBe(true);
    expect(log).toEqual(["write 40 at 4096", "sync", "write 40 at 0", "sync", "write 40 at 4096", "sync"]);
    await driver.close();
  });

  test("many waiting persists share the next write", async () => {
    let syncs = 0;
    const driver = await opened((io) => ({
      write: (bytes, position) => io.write(bytes, position),
      datasync: () => {
        syncs += 1;
        return io.datasync();
      },
      close: () => io.close(),
    }));
    syncs = 0;
    const answers = await Promise.all([5, 9, 7, 3].map((bound) => driver.persistHighWater(bound, Epoch.ZERO)));
    expect(answers.map((answer) => unwrap(answer))).toEqual([5, 9, 9, 9]);
    expect(syncs).toBe(2);
    await driver.close();
  });
});

describe("a disk that fails", () => {
  const failing = (at: "write" | "datasync") => {
    let isBroken = false;
    return {
      break: () => {
        isBroken = true;
      },
      mend: () => {
        isBroken = false;
      },
      wrapIo: (io: SlotIo): SlotIo => {
        const fail = (): Promise<void> => Promise.reject(Object.assign(new Error("disk"), { code: "EIO" }));
        return {
          write: (bytes, position) => (isBroken && at === "write" ? fail() : io.write(bytes, position)),
          datasync: () => (isBroken && at === "datasync" ? fail() : io.datasync()),
          close: () => io.close(),
        };
      },
    };
  };

  test.each(["write", "datasync"] as const)(
    "at %s fails for good, and the bound is read again by the next opener",
    async (at) => {
      await persisted(5000);
      const disk = failing(at);
      const driver = await opened(disk.wrapIo);
      disk.break();
      const failed = {
        ok: false,
        error: { kind: "PermanentDriver", reason: "the state file could not be written: EIO" },
      };
      expect(await driver.persistHighWater(6000, Epoch.ZERO)).toEqual(failed);
      disk.mend();
      // What the disk holds is not known: a sync that failed once may succeed the next time without having written anything.
      expect(await driver.persistHighWater(7000, Epoch.ZERO)).toEqual(failed);
      expect(await driver.loadHighWater()).toEqual(failed);
      await driver.close();
      const next = await opened();
      expect([5000, 6000]).toContain(unwrap(await next.loadHighWater()));
      await next.close();
    },
  );
});

describe("opening", () => {
  test("makes the folder, and leaves nothing but the state behind when closed", async () => {
    const deep = join(directory, "a", "b");
    const driver = unwrap(await FileDriver.open({ directory: deep }));
    await driver.close();
    await driver.close();
    expect(await readdir(deep)).toEqual(["state"]);
    expect(await driver.persistHighWater(5, Epoch.ZERO)).toMatchObject({ error: { kind: "PermanentDriver" } });
  });

  test("works in a folder whose path is longer than a socket's may be", async () => {
    const deep = join(directory, "x".repeat(100), "y".repeat(100));
    const driver = unwrap(await FileDriver.open({ directory: deep }));
    expect(await FileDriver.open({ directory: deep })).toEqual({
      ok: false,
      error: { kind: "AlreadyLocked", directory: deep },
    });
    await driver.close();
    expect(await readdir(deep)).toEqual(["state"]);
  });

  test("of many at once at most one succeeds, and then one does", async () => {
    for (let round = 0; round < 5; round++) {
      const all = await Promise.all(Array.from({ length: 8 }, () => FileDriver.open({ directory })));
      const held = all.flatMap((driver) => (driver.ok ? [driver.value] : []));
      expect(held.length).toBeLessThanOrEqual(1);
      for (const driver of all) if (!driver.ok) expect(driver.error.kind).toBe("AlreadyLocked");
      await Promise.all(held.map((driver) => driver.close()));
      await (await opened()).close();
    }
  });

  test("a newer version's file is refused, not guessed at", async () => {
    const driver = await opened();
    await driver.close();
    const whole = await readFile(statePath());
    whole.writeUInt8(2, 4);
    whole.writeUInt32LE(crc32c(whole.subarray(0, 16)), 16);
    await writeFile(statePath(), whole);
    expect(await FileDriver.open({ directory })).toMatchObject({
      ok: false,
      error: { kind: "CorruptState", flaw: { kind: "UnsupportedVersion", version: 2 } },
    });
  });

  test("a state that is a folder is an error of its own", async () => {
    await mkdir(statePath());
    expect(await FileDriver.open({ directory })).toMatchObject({ ok: false, error: { kind: "Io", code: "EISDIR" } });
  });

  test("initialize starts a folder at a bound, once", async () => {
    expect(await FileDriver.initialize({ directory, seedPhysicalMs: 123_456 })).toEqual({ ok: true, value: undefined });
    expect(await FileDriver.initialize({ directory, seedPhysicalMs: 1 })).toEqual({
      ok: false,
      error: { kind: "AlreadyInitialized", path: statePath() },
    });
    expect(await FileDriver.initialize({ directory, seedPhysicalMs: PHYSICAL_MS_MAX + 1 })).toMatchObject({
      error: { kind: "PhysicalMsOutOfRange" },
    });
    const driver = await opened();
    expect(unwrap(await driver.loadHighWater())).toBe(123_456);
    expect(await FileDriver.initialize({ directory, seedPhysicalMs: 1 })).toMatchObject({
      error: { kind: "AlreadyLocked" },
    });
    await driver.close();
  });
});
