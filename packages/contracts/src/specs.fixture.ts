import fc from "fast-check";
import { compareBytes } from "@gossip/stdx";
import { ascii, denseKey } from "./arbitraries.fixture.ts";
import { Cursor } from "./cursors/cursor.ts";
import type { ShardSpecRef } from "./specs/shard-spec-ref.ts";
import type { SplitReplaceChild } from "./splits/split-replace-plan.ts";

/** An unchecked spec of two texts. The empty text is no bound. */
export function range(start: string, end: string, metadata = ""): ShardSpecRef {
  return { keyRangeStart: ascii(start), keyRangeEnd: ascii(end), metadata: ascii(metadata) };
}

/** A cursor at a text; at the empty one, none. */
export function cursorAt(text: string): Cursor {
  return text === "" ? Cursor.initial() : Cursor.withLastKey(ascii(text));
}

/** A child that starts fresh. */
export function child(start: string, end: string, cursor = ""): SplitReplaceChild {
  return { spec: range(start, end), cursor: cursorAt(cursor) };
}

/** A range and the points that cut it into at least two parts, in order. */
export interface Partition {
  readonly parent: ShardSpecRef;
  readonly points: readonly Uint8Array[];
}

/** Ranges with or without either bound, and one to five points strictly inside. */
export const partition: fc.Arbitrary<Partition> = fc
  .tuple(
    fc.uniqueArray(denseKey({ min: 1, max: 3 }), { minLength: 3, maxLength: 7, selector: (key) => key.join() }),
    fc.boolean(),
    fc.boolean(),
    denseKey({ min: 0, max: 2 }),
  )
  .map(([keys, hasStart, hasEnd, metadata]) => {
    const [start, ...rest] = [...keys].sort(compareBytes);
    const end = rest.pop()!;
    const none = new Uint8Array(0);
    const parent = { keyRangeStart: hasStart ? start! : none, keyRangeEnd: hasEnd ? end : none, metadata };
    return { parent, points: rest };
  });

/** The parts that the points cut the parent into, each with the parent's metadata. */
export function partsOf({ parent, points }: Partition): ShardSpecRef[] {
  const starts = [parent.keyRangeStart, ...points];
  const ends = [...points, parent.keyRangeEnd];
  return starts.map((start, index) => ({ ...parent, keyRangeStart: start, keyRangeEnd: ends[index]! }));
}
