import { byteMidpointInto, KeyBuf, keySuccessorInto, prefixSuccessorInto } from "@gossip/frontier";
import { compareBytes } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";

const SIZES = [16, 64, 256, 1024, 4096];
const KEY_COUNT = 64;

/** Keys of printable characters, different from each other from the first byte on. */
function makeKeys(size: number, seed: number): Uint8Array[] {
  return Array.from({ length: KEY_COUNT }, (_, key) =>
    Uint8Array.from(
      { length: size },
      (_unused, index) => 0x21 + (((Math.imul(key + seed, 0x9e37_79b1) + index * 31) >>> 7) % 94),
    ),
  );
}

for (const size of SIZES) {
  const keys = makeKeys(size, 1);
  const out = new KeyBuf();
  const bare = new Uint8Array(KeyBuf.CAPACITY);
  compare(`successors of keys of ${size} B`, {
    forms: {
      prefixSuccessorInto: (call) => prefixSuccessorInto(keys[call % KEY_COUNT]!, out),
      keySuccessorInto: (call) => keySuccessorInto(keys[call % KEY_COUNT]!, out),
      "bare set": (call) => bare.set(keys[call % KEY_COUNT]!),
    },
    bounds: [
      { form: "prefixSuccessorInto", ratioAtMost: 2, toBestOf: ["bare set"] },
      { form: "prefixSuccessorInto", heapBytesAtMost: 0 },
      { form: "keySuccessorInto", ratioAtMost: 2, toBestOf: ["bare set"] },
      { form: "keySuccessorInto", heapBytesAtMost: 0 },
    ],
  });
}

/** The mean through BigInt, by the quickest way in and out of one that Node has: hex digits. */
function bigintMidpoint(a: Uint8Array, b: Uint8Array): Uint8Array {
  const low = BigInt(`0x${Buffer.from(a.buffer, a.byteOffset, a.length).toString("hex")}`);
  const high = BigInt(`0x${Buffer.from(b.buffer, b.byteOffset, b.length).toString("hex")}`);
  return Buffer.from(((low + high) >> 1n).toString(16).padStart(2 * a.length, "0"), "hex");
}

function makeMidpoints(size: number): { ours: (call: number) => boolean; bigint: (call: number) => Uint8Array } {
  const [some, others] = [makeKeys(size, 1), makeKeys(size, 99)];
  const pairs = some.map((key, index) => [key, others[index]!].toSorted(compareBytes) as [Uint8Array, Uint8Array]);
  const out = new KeyBuf();
  return {
    ours: (call) => byteMidpointInto(pairs[call % KEY_COUNT]![0], pairs[call % KEY_COUNT]![1], out),
    bigint: (call) => bigintMidpoint(pairs[call % KEY_COUNT]![0], pairs[call % KEY_COUNT]![1]),
  };
}

const midpoints = { 16: makeMidpoints(16), 256: makeMidpoints(256), 4096: makeMidpoints(4096) } as const;
for (const size of [16, 256, 4096] as const) {
  compare(`midpoint of keys of ${size} B`, {
    forms: { byteMidpointInto: midpoints[size].ours, "through BigInt": midpoints[size].bigint },
    bounds: [
      { form: "byteMidpointInto", ratioAtMost: 1 / 10, toBestOf: ["through BigInt"] },
      { form: "byteMidpointInto", heapBytesAtMost: 0 },
    ],
  });
}

// A key 16 times as long may cost 16 times as much: the cost a byte then stays flat.
compare("byteMidpointInto, growth", {
  forms: { "16 B": makeMidpoints(16).ours, "256 B": makeMidpoints(256).ours, "4096 B": makeMidpoints(4096).ours },
  bounds: [
    { form: "256 B", ratioAtMost: 16, toBestOf: ["16 B"] },
    { form: "4096 B", ratioAtMost: 16, toBestOf: ["256 B"] },
  ],
});
