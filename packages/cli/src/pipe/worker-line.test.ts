// A log line that is taken for an answer would count an item as done that is not.
import fc from "fast-check";
import { expect, test } from "vitest";
import { LineSplitter } from "./line-splitter.ts";
import { Pace } from "./pace.ts";
import { readWorkerLine } from "./worker-line.ts";

test.each([
  ['{"id":1,"result":null}', { kind: "Result", id: 1, value: null }],
  ['{"id":"12","result":{"a":[1]}}', { kind: "Result", id: 12, value: { a: [1] } }],
  ['{"id":1,"result":5,"error":null}', { kind: "Result", id: 1, value: 5 }],
  ['{"id":1}', { kind: "NoResult", id: 1 }],
  ['{"id":1,"error":"no"}', { kind: "Error", id: 1, error: { message: "no" } }],
  ['{"id":1,"error":17}', { kind: "Error", id: 1, error: { message: "17" } }],
  [
    '{"id":1,"error":{"message":"busy","retryAfter":1.5,"class":"dependency"}}',
    { kind: "Error", error: { message: "busy", retryAfterMs: 1500, failureClass: "Dependency" } },
  ],
  [
    '{"id":1,"error":{"message":"busy","retryAfter":5,"scope":"run"}}',
    { kind: "Error", error: { retryAfterMs: 5000, retryAfterScope: "run" } },
  ],
  ['{"id":1,"error":{"message":"busy","scope":"run"}}', { kind: "Error", error: { retryAfterScope: "item" } }],
  ['{"id":1,"error":{"class":"toString"}}', { kind: "Error", error: { failureClass: undefined } }],
  ["starting", { kind: "Log", text: "starting" }],
  ['{"level":"info"}', { kind: "Log" }],
  ['{"id":null,"result":1}', { kind: "Log" }],
  ['{"id":1,"result":', { kind: "Log" }],
  ['[{"id":1,"result":1}]', { kind: "Log" }],
  ["", { kind: "Log" }],
  ['{"batch":100}', { kind: "Log" }],
])("the line %s is read as what it is", (text, line) => {
  expect(readWorkerLine(text, false)).toMatchObject(line);
});

test("only the first line can ask for batches, and only for a number of items", () => {
  expect(readWorkerLine('{"batch":100}', true)).toEqual({ kind: "Hello", batch: 100, concurrency: undefined });
  expect(readWorkerLine('{"concurrency":8}', true)).toEqual({ kind: "Hello", batch: 1, concurrency: 8 });
  for (const batch of [0, -1, 1.5, 1e9, "100", null])
    expect(readWorkerLine(JSON.stringify({ batch }), true).kind).toBe("Log");
});

test("lines come out as they went in, however the output is cut", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: fc.constantFrom("a", "ß", "⛵", "\r") }), { maxLength: 8 }),
      fc.array(fc.nat(30), { maxLength: 8 }),
      fc.boolean(),
      (lines, cuts, hasEnd) => {
        const bytes = Buffer.from(lines.join("\n") + (hasEnd && lines.length > 0 ? "\n" : ""));
        const splitter = new LineSplitter(1000);
        const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length].sort((a, b) => a - b);
        const read = places.slice(1).flatMap((end, index) => splitter.push(bytes.subarray(places[index], end)));
        read.push(...splitter.end());
        // A last line without text and without an end is no line.
        const expected = hasEnd || lines.at(-1) !== "" ? lines : lines.slice(0, -1);
        expect(read).toEqual(expected);
      },
    ),
  );
});

test("a line without an end is noticed when it is too long", () => {
  const splitter = new LineSplitter(10);
  splitter.push(Buffer.from("short\n0123456789"));
  expect(splitter.isOverfull).toBe(false);
  splitter.push(Buffer.from("0"));
  expect(splitter.isOverfull).toBe(true);
});

test("a fast process gets many items in advance, a slow one gets one", () => {
  const fast = new Pace();
  expect(fast.depth).toBe(1);
  for (let ms = 0; ms < 100; ms++) fast.answered(100, ms);
  expect(fast.depth).toBe(256);
  const slow = new Pace();
  for (let ms = 0; ms < 10_000; ms += 500) slow.answered(1, ms);
  expect(slow.depth).toBe(1);
});
