// A sweeper that misses a start leaves a removed run's shards behind until the store is opened again.
import { expect, test } from "vitest";
import { Sweeper } from "./sweeper.ts";

/** A promise, and the function that settles it. */
function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

test("a start during a sweep causes one more sweep", async () => {
  const { opened, open } = gate();
  let sweeps = 0;
  const sweeper = new Sweeper(async () => {
    sweeps++;
    await opened;
  });
  await sweeper.idle;
  sweeper.start();
  sweeper.start();
  sweeper.start();
  expect(sweeps).toBe(1);
  open();
  await sweeper.idle;
  expect(sweeps).toBe(2);
});

test("no start is lost, however soon after the end of a sweep it comes", async () => {
  for (let turns = 0; turns < 12; turns++) {
    let sweeps = 0;
    const sweeper = new Sweeper(() => {
      sweeps++;
      return Promise.resolve();
    });
    sweeper.start();
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    sweeper.start();
    await sweeper.idle;
    expect(sweeps, `${turns} turns`).toBe(2);
  }
});

test("a failed sweep is over, and the next start tries again", async () => {
  let sweeps = 0;
  const sweeper = new Sweeper(() => Promise.reject(new Error(`engine is away ${++sweeps}`)));
  sweeper.start();
  await sweeper.idle;
  sweeper.start();
  await sweeper.idle;
  expect(sweeps).toBe(2);
});

test("stop waits for the sweep, tells it to return early, and lets no other begin", async () => {
  const { opened, open } = gate();
  const seen: boolean[] = [];
  const sweeper = new Sweeper(async (isStopped) => {
    seen.push(isStopped());
    await opened;
    seen.push(isStopped());
  });
  sweeper.start();
  let isOver = false;
  const stopped = sweeper.stop().then(() => {
    isOver = true;
  });
  await Promise.resolve();
  expect(isOver).toBe(false);
  open();
  await stopped;
  sweeper.start();
  await sweeper.idle;
  expect(seen).toEqual([false, true]);
});
