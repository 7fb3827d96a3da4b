import { ShardArena, ShardSpec } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";

const SLOTS = 1024;
const encoder = new TextEncoder();
const spec = ShardSpec.withRangeAndMetadata({
  start: encoder.encode("logs/2026/08/14/00"),
  end: encoder.encode("logs/2026/08/14/12"),
  metadata: encoder.encode("\u0000\u0000\u0000\u0001\u0000"),
});

// An arena in use, so that free slots and free bytes lie about.
const arena = ShardArena.withCapacity({ specSlots: SLOTS, byteCapacity: SLOTS * 128 });
const handles = Array.from({ length: SLOTS / 2 }, () => unwrap(arena.allocSpec(spec)));
for (let index = 0; index < handles.length; index += 3) arena.freeSpec(handles[index]!);

const kept = unwrap(arena.allocSpec(spec));

// A small object is a header and a few fields: 48 bytes for the handle, as many for the view.
const SMALL_OBJECT_BYTES = 48;

compare("ShardArena, a spec of 41 bytes", {
  forms: {
    "alloc + view + free": () => {
      const handle = arena.tryAllocSpec(spec)!;
      const view = arena.viewSpec(handle);
      arena.freeSpec(handle);
      return view;
    },
    "alloc + free": () => {
      const handle = arena.tryAllocSpec(spec)!;
      arena.freeSpec(handle);
      return handle;
    },
    view: () => arena.viewSpec(kept),
    "an owned copy": () => ShardSpec.tryFromRef(spec),
  },
  bounds: [
    { form: "alloc + view + free", heapBytesAtMost: 2 * SMALL_OBJECT_BYTES },
    { form: "alloc + free", heapBytesAtMost: SMALL_OBJECT_BYTES },
    { form: "view", heapBytesAtMost: SMALL_OBJECT_BYTES },
  ],
});
