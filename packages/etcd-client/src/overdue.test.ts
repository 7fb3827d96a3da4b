// A caller whose answer never comes must be timed out exactly once. A caller that has its answer must not be timed out: by
// then the connection belongs to another request.
import { expect, test } from "vitest";
import { Overdue } from "./overdue.ts";
import { ScriptedTime } from "./scripted-time.fixture.ts";

test("all that still wait are notified once, and those that left are not", () => {
  const time = new ScriptedTime();
  const overdue = new Overdue(time.timers, 10);
  const heard: string[] = [];
  overdue.whenUp(() => heard.push("first"));
  const leave = overdue.whenUp(() => heard.push("left"));
  // One that leaves while the others are notified.
  const leaveLate = overdue.whenUp(() => (heard.push("second"), leaveLate()));
  leave();
  leave();
  time.elapse(9);
  expect([overdue.isUp, heard]).toEqual([false, []]);
  time.elapse(1);
  expect([overdue.isUp, heard]).toEqual([true, ["first", "second"]]);
  time.elapse(100);
  expect(heard.length).toBe(2);
});

test("what is done in time leaves no timer", () => {
  const time = new ScriptedTime();
  const overdue = new Overdue(time.timers, 10);
  overdue.whenUp(() => expect.unreachable());
  overdue.cancel();
  overdue.cancel();
  expect(time.waiting).toBe(0);
  time.elapse(100);
  expect(overdue.isUp).toBe(false);
});
