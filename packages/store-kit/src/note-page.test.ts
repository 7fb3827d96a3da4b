// A page that continues at its last note repeats it; one that continues further on skips the notes between.
import type { Note } from "@gossip/coordination";
import { expect, test } from "vitest";
import { notePage } from "./note-page.ts";

const note = (...key: number[]): Note => ({ space: "rollup", key: Uint8Array.from(key), value: Uint8Array.of(1) });

test("the next page starts at the least key above the last one", () => {
  const items = [note(1), note(1, 255)];
  expect(notePage(items, true)).toEqual({ items, next: Uint8Array.of(1, 255, 0) });
});

test("the last page has no next one", () => {
  const items = [note(1)];
  expect(notePage(items, false)).toEqual({ items, next: undefined });
  expect(notePage([], true)).toEqual({ items: [], next: undefined });
});
