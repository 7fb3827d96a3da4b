import { compareBytes } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";

function byteLoop(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let index = 0; index < shared; index++) {
    const difference = a[index]! - b[index]!;
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Both kinds of array that callers hold, `size` bytes that differ from each other at `at` only. */
function inputs(size: number, at: number): Uint8Array[] {
  return Array.from({ length: 64 }, (_, index) => {
    const bytes = index % 4 === 0 ? Buffer.alloc(size, 7) : new Uint8Array(size).fill(7);
    bytes[at] = index;
    return bytes;
  });
}

function compareAll(name: string, keys: readonly Uint8Array[]): void {
  compare(name, {
    forms: {
      compareBytes: (call) => compareBytes(keys[call & 63]!, keys[(call + 1) & 63]!),
      "byte loop": (call) => byteLoop(keys[call & 63]!, keys[(call + 1) & 63]!),
      "Buffer.compare": (call) => Buffer.compare(keys[call & 63]!, keys[(call + 1) & 63]!),
    },
    bounds: [
      { form: "compareBytes", ratioAtMost: 1.1, toBestOf: ["byte loop", "Buffer.compare"] },
      { form: "compareBytes", heapBytesAtMost: 0 },
    ],
    options: { sampleMs: 4 },
  });
}

// The last byte decides: the most work that there is.
for (const size of [4, 16, 64, 256, 4096]) {
  compareAll(`compareBytes, ${size} B that differ in the last`, inputs(size, size - 1));
}

// The first byte decides: a loop has an answer before a native function is even called.
compareAll("compareBytes, 256 B that differ in the first", inputs(256, 0));
