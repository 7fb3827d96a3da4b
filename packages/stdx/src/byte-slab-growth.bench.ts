import { ByteSlab, ByteSlot } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";

const SIZES = [16, 32, 64, 128];
const SOURCES = SIZES.map((size) => new Uint8Array(size).fill(7));
const BLOCK_COUNT = 200_000;

/**
 * A slab of many blocks, `freeCount` of them free, and a call that takes one and frees another.
 *
 * Only the number of free blocks differs between two such slabs: their memory is
 * equally large and visited in an equally scattered order. Each block is walled
 * in by live ones, so that none can merge and the number stays what it is.
 */
function makeSwap(freeCount: number): (call: number) => boolean {
  const slab = new ByteSlab(BLOCK_COUNT * (128 + 16));
  const wall = new ByteSlot();
  const slots = Array.from({ length: BLOCK_COUNT }, (_, index) => {
    const slot = new ByteSlot();
    slab.allocateInto(SOURCES[index % SIZES.length]!, slot);
    slab.allocateInto(Uint8Array.of(1), wall);
    return slot;
  });
  const liveBySize = SIZES.map((size) => slots.filter((slot) => slot.allocSize === size).sort(scatter));
  const freeBySize = liveBySize.map((live, size) => live.splice(0, Math.ceil((freeCount - size) / SIZES.length)));
  for (const slot of freeBySize.flat()) slab.deallocate(slot);

  let turn = 0;
  return () => {
    turn += 1;
    const size = turn % Math.min(freeCount, SIZES.length);
    const live = liveBySize[size]!;
    const free = freeBySize[size]!;
    const liveIndex = turn % live.length;
    const freeIndex = turn % free.length;
    const taken = free[freeIndex]!;
    const freed = live[liveIndex]!;
    slab.deallocate(freed);
    live[liveIndex] = taken;
    free[freeIndex] = freed;
    return slab.allocateInto(SOURCES[size]!, taken);
  };
}

function scatter(a: ByteSlot, b: ByteSlot): number {
  return Math.imul(a.offset, 0x9e37_79b1) - Math.imul(b.offset, 0x9e37_79b1);
}

// A search among n blocks ends after about log2 n steps: 7, 14 and 17, where one among 1 ends after 1. A list
// that is walked would take thousands.
compare("ByteSlab: take a block and free another, by the number of free blocks", {
  forms: {
    "1 free": makeSwap(1),
    "100 free": makeSwap(100),
    "10000 free": makeSwap(10_000),
    "100000 free": makeSwap(100_000),
  },
  bounds: [
    { form: "100 free", ratioAtMost: 7, toBestOf: ["1 free"] },
    { form: "10000 free", ratioAtMost: 14, toBestOf: ["1 free"] },
    { form: "100000 free", ratioAtMost: 17, toBestOf: ["1 free"] },
    { form: "100000 free", heapBytesAtMost: 0 },
  ],
  options: { sampleMs: 5 },
});
