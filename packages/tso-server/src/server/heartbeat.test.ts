// The heartbeat is how an operator tells a node that idles from one that hangs. It must come when nothing
// happens, and survive a listener that throws.
import { expect, test } from "vitest";
import { makeServingOracle } from "../oracle/oracle.fixture.ts";
import { startHeartbeat, type Heartbeat } from "./heartbeat.ts";

test("beats on time with what happened since, also when nothing did", async () => {
  const { memory, oracle, time } = await makeServingOracle();
  const beats: Heartbeat[] = [];
  const stop = startHeartbeat(oracle, {
    everyMs: 1000,
    timers: time.timers,
    monotonicClock: time.monotonicClock,
    onBeat: (beat) => beats.push(beat),
  });
  expect([(await oracle.getTs(3)).ok, (await oracle.getTs(4)).ok]).toEqual([true, true]);
  await time.advance(1000);
  await time.advance(500);
  memory.setLeadership({ kind: "Unknown" });
  await time.advance(500);
  expect((await oracle.getTs(1)).ok).toBe(false);
  await time.advance(1000);
  expect(beats).toEqual([
    {
      uptimeMs: 1000,
      isServing: true,
      epoch: 1n,
      requests: 2,
      issued: 7,
      notLeader: 0,
      transitions: 0,
      fenceRetries: 0,
      sinceTransitionMs: 1000,
    },
    {
      uptimeMs: 2000,
      isServing: false,
      epoch: undefined,
      requests: 0,
      issued: 0,
      notLeader: 0,
      transitions: 1,
      fenceRetries: 0,
      sinceTransitionMs: 500,
    },
    {
      uptimeMs: 3000,
      isServing: false,
      epoch: undefined,
      requests: 1,
      issued: 0,
      notLeader: 1,
      transitions: 0,
      fenceRetries: 0,
      sinceTransitionMs: 1500,
    },
  ]);
  stop();
  await time.advance(5000);
  expect(beats.length).toBe(3);
});

test("a listener that throws is counted and beaten again", async () => {
  const { oracle, time } = await makeServingOracle();
  let beats = 0;
  const onBeat = (): void => {
    beats += 1;
    throw new Error("no disk for the log");
  };
  const stop = startHeartbeat(oracle, {
    everyMs: 10,
    timers: time.timers,
    monotonicClock: time.monotonicClock,
    onBeat,
  });
  await time.advance(30);
  expect([beats, oracle.metrics.counter("tsoracle.heartbeat.task_panicked.total").value]).toEqual([3, 3]);
  stop();
});
