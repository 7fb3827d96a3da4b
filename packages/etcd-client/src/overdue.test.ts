// Whoever waits for an answer that never comes must hear that its time is up, once; and whoever had its answer must not, since by then the connection is another's.
import { expect, test } from "vitest";
import { Overdue } from "./overdue.ts";
import { ScriptedTime } from "./scripted-time.fixture.ts";

test("all who still wait hear of it, once, and those who have left do not", () => {
  const time = new ScriptedTime();
  const overdue = new Overdue(time.timers, 10);
  const heard: string[] = [];
  overdue.whenUp(() => heard.push("first"));
  const leave = overdue.whenUp(() => heard.push("left"));
  // One that leaves while the others are told.
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
