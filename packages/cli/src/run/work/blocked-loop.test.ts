// A process that cannot be stopped with Ctrl-C has to be found and killed from another terminal.
import { describe, expect, test } from "vitest";
import { BlockedLoopGuard } from "./blocked-loop.ts";

function setUp() {
  const printed: string[] = [];
  const timers = new Map<() => void, number>();
  let onSignal: (() => void) | undefined;
  let ends = 0;
  const guard = new BlockedLoopGuard({
    describeKey: (key) => `item ${key[0]}`,
    graceMs: 8000,
    print: (line) => void printed.push(line),
    listen: (listener) => {
      onSignal = listener;
      return () => (onSignal = undefined);
    },
    end: () => void ends++,
    startTimer: (ms, callback) => {
      timers.set(callback, ms);
      return () => timers.delete(callback);
    },
  });
  const interrupt = (): void => {
    const listener = onSignal;
    onSignal = undefined;
    listener?.();
  };
  const block = (blockedMs: number): void => guard.onBlocked({ key: Uint8Array.of(7), blockedMs });
  return { guard, printed, timers, interrupt, block, ends: () => ends, isListening: () => onSignal !== undefined };
}

describe("an item that blocks the event loop", () => {
  test("is named, and again when it has taken twice as long", () => {
    const { printed, block } = setUp();
    for (const ms of [2000, 2500, 3999, 4000, 4500]) block(ms);
    expect(printed).toEqual([
      "item 7 has kept this process busy for 2 s.",
      "item 7 has kept this process busy for 4 s.",
    ]);
  });

  test("is ended by the second Ctrl-C", () => {
    const { printed, block, interrupt, ends } = setUp();
    block(2000);
    interrupt();
    expect([ends(), printed.at(-1)]).toEqual([0, expect.stringContaining("Stopping: item 7 keeps this process busy")]);
    interrupt();
    expect(ends()).toBe(1);
  });

  test("is ended when the grace period is over", () => {
    const { timers, block, interrupt, ends } = setUp();
    block(2000);
    interrupt();
    const [[end, ms]] = [...timers] as [[() => void, number]];
    end();
    expect([ms, ends()]).toEqual([8000, 1]);
  });

  test("is left alone once the loop runs again", () => {
    const { guard, timers, block, interrupt, ends, isListening } = setUp();
    block(2000);
    interrupt();
    guard.onUnblocked();
    expect([timers.size, ends(), isListening()]).toEqual([0, 0, false]);
  });
});
