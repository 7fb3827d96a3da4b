// An engine that is closed under a call takes the process with it, or loses the answer of a write that was made.
import type { WriteSet } from "@gossip/coordination";
import { InfraError } from "@gossip/coordination-errors";
import { InvariantViolation, ok } from "@gossip/stdx";
import { expect, test } from "vitest";
import { CorruptStore } from "./store-failure.ts";
import { StoreLifecycle } from "./store-lifecycle.ts";

function makeLifecycle() {
  const log: string[] = [];
  const lifecycle = new StoreLifecycle({
    name: "test",
    failureFrom: (operation, cause) => InfraError.transient({ operation, message: "the engine failed", cause }),
    release: () => void log.push("released"),
    sweeper: { stop: () => Promise.resolve(void log.push("sweeper stopped")) },
  });
  return { log, lifecycle };
}

const SETS = [{ kind: "UpdateShard" }, { kind: "UpdateShard" }] as WriteSet[];
const engineFailure = () => {
  throw new Error("row 17 says hello");
};

test("close waits for pending calls, and releases the engine once", async () => {
  const { log, lifecycle } = makeLifecycle();
  let answer: (text: string) => void = () => undefined;
  const call = lifecycle.call("test.readRun", () => new Promise<string>((resolve) => (answer = resolve)));
  const end = lifecycle.pending.begin();
  const closed = lifecycle.close();
  expect(lifecycle.close()).toBe(closed);
  expect(lifecycle.isClosing).toBe(true);
  expect(lifecycle.pending.isEnding).toBe(true);
  answer("found");
  expect(await call).toEqual(ok("found"));
  expect(log).toEqual(["sweeper stopped"]);
  end();
  end();
  await closed;
  expect(log).toEqual(["sweeper stopped", "released"]);
});

test("a call after close fails and does not reach the engine", async () => {
  const { lifecycle } = makeLifecycle();
  await lifecycle.close();
  const closed = { kind: "Transient", message: "the store is closed" };
  const untouched = () => expect.unreachable();
  expect(lifecycle.read("test.readRun", untouched)).toMatchObject({ error: { ...closed, operation: "test.readRun" } });
  expect(await lifecycle.call("test.listRuns", untouched)).toMatchObject({ ok: false, error: closed });
  const failed = { kind: "Failed", error: { ...closed, operation: "test.commit" } };
  expect(await lifecycle.commit(SETS, untouched)).toMatchObject([failed, failed]);
});

test("what the driver throws is described, and its own text stays out of the message", async () => {
  const { lifecycle } = makeLifecycle();
  const failure = { kind: "Transient", operation: "test.readRun", message: "the engine failed" };
  expect(lifecycle.read("test.readRun", engineFailure)).toMatchObject({ ok: false, error: failure });
  expect(await lifecycle.call("test.readRun", async () => engineFailure())).toMatchObject({ error: failure });
  expect(await lifecycle.call("test.readRun", engineFailure)).toMatchObject({ error: failure });
});

test("corruption keeps its own failure, and a defect is thrown on", async () => {
  const { lifecycle } = makeLifecycle();
  const failure = InfraError.corruption({ operation: "test.readShard", message: "a record is damaged" });
  const corrupt = () => {
    throw new CorruptStore(failure);
  };
  expect(lifecycle.read("test.readRun", corrupt)).toEqual({ ok: false, error: failure });
  const defect = () => {
    throw new InvariantViolation("defect");
  };
  expect(() => lifecycle.read("test.readRun", defect)).toThrow(InvariantViolation);
  await expect(lifecycle.call("test.readRun", defect)).rejects.toThrow(InvariantViolation);
  await lifecycle.close();
});
