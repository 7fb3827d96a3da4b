// A network cuts a stream anywhere. An event that is lost at a cut is a change that the page never shows.
import fc from "fast-check";
import { expect, test } from "vitest";
import { backoffMs } from "./backoff.ts";
import { SseParser, type StreamMessage } from "./sse-parser.ts";

function parse(pieces: readonly string[]): StreamMessage[] {
  const parser = new SseParser();
  return pieces.flatMap((piece) => parser.push(piece));
}

test("messages have an id, a kind and data; comments are heartbeats", () => {
  const text =
    ':\n\nid: e-1\nevent: RunCreated\ndata: {"a":1}\n\nevent: gap\ndata: {}\n\ndata: x\ndata:y\n\nevent: none\n\n';
  expect(parse([text])).toEqual([
    { id: "e-1", event: "RunCreated", data: '{"a":1}' },
    { id: "e-1", event: "gap", data: "{}" },
    { id: "e-1", event: "message", data: "x\ny" },
  ]);
});

test("the messages are the same however the stream is cut, with any line ends", () => {
  const line = fc.constantFrom("id: 7", "event: a", "data: one", "data: ", "data", ": beat", "", "retry: 3");
  const end = fc.constantFrom("\n", "\r\n", "\r");
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 20 }),
      end,
      fc.array(fc.nat(60), { maxLength: 6 }),
      (lines, lineEnd, cuts) => {
        const text = [...lines, "", "", "data: last", "", ""].join(lineEnd) + ":\n";
        const places = [0, ...cuts.filter((cut) => cut < text.length).sort((a, b) => a - b), text.length];
        const pieces = places.slice(1).map((place, index) => text.slice(places[index], place));
        expect(parse(pieces)).toEqual(parse([text]));
        expect(parse([text]).at(-1)?.data).toBe("last");
      },
    ),
  );
});

test("a line without an end does not fill the memory", () => {
  const parser = new SseParser();
  for (let count = 0; count < 40; count++) parser.push("x".repeat(100_000));
  expect(parser.push("\n\ndata: after\n\n")).toEqual([{ id: undefined, event: "message", data: "after" }]);
});

test("waits grow up to a limit, and are spread over the half of it", () => {
  expect([0, 1, 2, 20].map((attempt) => backoffMs(attempt, 1))).toEqual([500, 1000, 2000, 15_000]);
  expect([0, 1, 2, 20].map((attempt) => backoffMs(attempt, 0))).toEqual([250, 500, 1000, 7500]);
});
