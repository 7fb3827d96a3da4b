import { ByteSlab, ByteSlot } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";

const bytes = new Uint8Array(64).fill(7);
const LIVE_COUNT = 64;

/** Numbers below `count` in an order that jumps about. */
function scattered(call: number, count: number): number {
  return (Math.imul(call, 0x9e37_79b1) >>> 8) % count;
}

function freshCopy(): Uint8Array {
  const fresh = new Uint8Array(bytes.length);
  fresh.set(bytes);
  return fresh;
}

// The pages of the young generation are slow when they are first touched. That is done here, so that it is not
// counted against the copies.
for (let count = 0; count < 2_000_000; count++) freshCopy();

{
  const slab = new ByteSlab(4096);
  const slot = new ByteSlot();
  compare("ByteSlab, 64 B: store and free", {
    forms: {
      "allocateInto + deallocate": () => {
        slab.allocateInto(bytes, slot);
        slab.deallocate(slot);
        return slot;
      },
      "copy into a fresh Uint8Array": freshCopy,
    },
    bounds: [
      { form: "allocateInto + deallocate", heapBytesAtMost: 0 },
      { form: "allocateInto + deallocate", ratioAtMost: 1, toBestOf: ["copy into a fresh Uint8Array"] },
    ],
    options: { sampleMs: 5 },
  });
}

{
  const slab = new ByteSlab(LIVE_COUNT * 64);
  const slots = Array.from({ length: LIVE_COUNT }, () => new ByteSlot());
  for (const slot of slots) slab.allocateInto(bytes, slot);
  const copies = slots.map(freshCopy);
  compare(`ByteSlab, 64 B: replace one of ${LIVE_COUNT} live, in scattered order`, {
    forms: {
      "allocateInto + deallocate": (call) => {
        const slot = slots[scattered(call, LIVE_COUNT)]!;
        slab.deallocate(slot);
        return slab.allocateInto(bytes, slot);
      },
      "copy into a fresh Uint8Array": (call) => (copies[scattered(call, LIVE_COUNT)] = freshCopy()),
    },
    bounds: [
      { form: "allocateInto + deallocate", heapBytesAtMost: 0 },
      { form: "allocateInto + deallocate", ratioAtMost: 1, toBestOf: ["copy into a fresh Uint8Array"] },
    ],
    options: { sampleMs: 5 },
  });
}
