// Real processes, really killed: at each step of a persist, of making the file, and while they merely
// hold it. The next opener must get in, and must find no less than was reported as durable to any caller.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unwrap } from "@gossip/stdx";
import { Epoch } from "@gossip/tso";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Bundle } from "../processes/bundle.fixture.ts";
import { BundledProcess } from "../processes/bundled-process.fixture.ts";
import { FileDriver } from "./file-driver.ts";

const CHILD = new URL("./crash-child.fixture.ts", import.meta.url);
const ACKNOWLEDGED_MS = 5000;
const NEXT_MS = 6000;

let directory: string;
const processes: BundledProcess[] = [];
let bundle: Bundle;
beforeAll(async () => {
  bundle = await Bundle.of(CHILD);
});
afterAll(() => bundle.dispose());
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tso-crash-"));
});
afterEach(async () => {
  await Promise.all(processes.splice(0).map((process) => process.kill()));
  await rm(directory, { recursive: true, force: true });
});

function start(...args: readonly string[]): BundledProcess {
  const started = new BundledProcess(bundle, args);
  processes.push(started);
  return started;
}

async function boundNow(): Promise<number> {
  const driver = unwrap(await FileDriver.open({ directory }));
  const bound = unwrap(await driver.loadHighWater());
  await driver.close();
  return bound;
}

describe("a process killed while it persists", () => {
  test.each([
    { step: "before write", leaves: [ACKNOWLEDGED_MS] },
    { step: "torn 1", leaves: [ACKNOWLEDGED_MS] },
    { step: "torn 19", leaves: [ACKNOWLEDGED_MS] },
    { step: "torn 20", leaves: [NEXT_MS] },
    { step: "torn 39", leaves: [NEXT_MS] },
    { step: "before sync", leaves: [ACKNOWLEDGED_MS, NEXT_MS] },
    { step: "after sync", leaves: [NEXT_MS] },
  ])("at $step leaves $leaves", async ({ step, leaves }) => {
    const before = unwrap(await FileDriver.open({ directory }));
    expect(unwrap(await before.persistHighWater(ACKNOWLEDGED_MS, Epoch.ZERO))).toBe(ACKNOWLEDGED_MS);
    await before.close();

    const child = start("persist", directory, step, String(NEXT_MS));
    expect(await child.exited).toEqual({ code: null, signal: "SIGKILL" });

    const bound = await boundNow();
    expect(leaves).toContain(bound);
    const after = unwrap(await FileDriver.open({ directory }));
    expect(unwrap(await after.persistHighWater(NEXT_MS + 1, Epoch.ZERO))).toBe(NEXT_MS + 1);
    await after.close();
    expect(await boundNow()).toBe(NEXT_MS + 1);
  });
});

describe("a process killed while it makes the state file", () => {
  test.each(["write", "sync", "rename", "sync directory"])(
    "before %s leaves a folder that opens at 0",
    async (step) => {
      const child = start("create", directory, step);
      expect(await child.exited).toEqual({ code: null, signal: "SIGKILL" });
      expect(await boundNow()).toBe(0);
    },
  );
});

describe("a process that holds the folder", () => {
  test("keeps others out while it runs and while it is stopped, and no longer than it lives", async () => {
    const holder = start("hold", directory, "7000");
    expect(await holder.line("held")).toBe("held 7000");
    const refused = { ok: false, error: { kind: "AlreadyLocked", directory } };
    expect(await FileDriver.open({ directory })).toEqual(refused);
    holder.signal("SIGSTOP");
    for (let knock = 0; knock < 20; knock++) expect(await FileDriver.open({ directory })).toEqual(refused);
    await holder.kill();
    expect(await boundNow()).toBe(7000);
  });

  test("is refused itself where this process holds it", async () => {
    const driver = unwrap(await FileDriver.open({ directory }));
    const intruder = start("hold", directory, "1");
    expect((await intruder.exited).code).not.toBe(0);
    expect(intruder.stderr).toContain("AlreadyLocked");
    await driver.close();
  });
});
