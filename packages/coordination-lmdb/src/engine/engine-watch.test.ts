// An engine that breaks never answers a pending write: its caller, and every later one, would wait forever. And a
// timer that stays behind would keep a process from ending that has nothing left to do.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { AbandonedWrite, EngineWatch } from "./engine-watch.ts";

const PANIC = new Error("the engine has given up");

let isBroken: boolean;
let asked: number;
let watch: EngineWatch;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  isBroken = false;
  asked = 0;
  watch = new EngineWatch(() => {
    asked++;
    if (isBroken) throw PANIC;
  });
});
afterEach(() => void vi.useRealTimers());

/** A write whose response the test controls. */
function makeWrite(): {
  readonly answer: Promise<string>;
  readonly settle: (word: string) => void;
  readonly fail: (reason: unknown) => void;
} {
  let settle: (word: string) => void = () => undefined;
  let fail: (reason: unknown) => void = () => undefined;
  const made = new Promise<string>((resolve, reject) => {
    settle = resolve;
    fail = reject;
  });
  return { answer: watch.unlessBroken(made), settle, fail };
}

test("writes settle as they do without a watch, however long they take", async () => {
  const writes = [makeWrite(), makeWrite()];
  await vi.advanceTimersByTimeAsync(60_000);
  writes[1]!.settle("second");
  writes[0]!.fail(PANIC);
  expect(await writes[1]!.answer).toBe("second");
  await expect(writes[0]!.answer).rejects.toBe(PANIC);
  expect(asked).toBeGreaterThan(50);
});

test("a broken engine rejects all pending writes, and none that settled before", async () => {
  const early = makeWrite();
  early.settle("made");
  expect(await early.answer).toBe("made");
  const heard = Promise.allSettled([makeWrite().answer, makeWrite().answer]);
  isBroken = true;
  await vi.advanceTimersByTimeAsync(1000);
  expect(await heard).toEqual([
    { status: "rejected", reason: new AbandonedWrite(PANIC) },
    { status: "rejected", reason: new AbandonedWrite(PANIC) },
  ]);
});

test("a write that begins after another one settled is watched as well", async () => {
  for (let round = 0; round < 3; round++) {
    const write = makeWrite();
    await vi.advanceTimersByTimeAsync(700);
    write.settle("made");
    expect(await write.answer).toBe("made");
    await vi.advanceTimersByTimeAsync(round * 900);
  }
  const last = makeWrite().answer;
  isBroken = true;
  const [heard] = await Promise.all([Promise.allSettled([last]), vi.advanceTimersByTimeAsync(1000)]);
  expect(heard[0]).toEqual({ status: "rejected", reason: new AbandonedWrite(PANIC) });
});

test("the timer stops when nothing has been pending for a while", async () => {
  const write = makeWrite();
  write.settle("made");
  await write.answer;
  await vi.advanceTimersByTimeAsync(5000);
  expect(asked).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});

test("the timer keeps the process alive only while a write is pending", async () => {
  vi.useRealTimers();
  // What the runner itself has under way counts as well.
  const before = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const count = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length - before;
  const writes = [makeWrite(), makeWrite()];
  expect(count()).toBe(1);
  writes[0]!.settle("made");
  await writes[0]!.answer;
  expect(count()).toBe(1);
  writes[1]!.settle("made");
  await writes[1]!.answer;
  expect(count()).toBe(0);
  const again = makeWrite();
  expect(count()).toBe(1);
  again.settle("made");
  await again.answer;
  expect(count()).toBe(0);
});
