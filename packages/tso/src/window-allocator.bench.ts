// What a grant costs beside the least that could be done instead, and beside what Node programs use today for
// ids that increase. The clock stands still in every form: reading it costs more than all of this.
import { unwrap } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";
import { Epoch, TimestampBuf, WindowAllocator } from "@gossip/tso";
import { monotonicFactory } from "ulid";

const NOW_MS = 1_700_000_000_000;
const SIZE = 4096;
const words = new Uint32Array(SIZE * 2);
const buf = new TimestampBuf(SIZE);
const allocator = new WindowAllocator();
unwrap(allocator.seed({ floorMs: NOW_MS, ceilingMs: NOW_MS * 20, epoch: Epoch.fromRaw(1n) }));

function counterLoop(): number {
  let counter = 0;
  for (let index = 0; index < words.length; index += 2) {
    words[index] = counter++;
    words[index + 1] = 7;
  }
  return counter;
}

/** Fill the buffer by grants of `count` each. */
function fill(count: number): number {
  buf.clear();
  let granted = 0;
  for (let index = 0; index < SIZE; index += count) {
    if (allocator.tryGrantInto(NOW_MS, count, buf).ok) granted += count;
  }
  return granted;
}

compare("fill an array of 4,096 timestamps", {
  forms: {
    "one grant": () => fill(SIZE),
    "grants of 64": () => fill(64),
    "grants of 1": () => fill(1),
    "bare counter loop": counterLoop,
  },
  options: { callsPerRun: SIZE },
  bounds: [
    { form: "one grant", ratioAtMost: 1 / 0.5, toBestOf: ["bare counter loop"] },
    { form: "grants of 64", ratioAtMost: 1 / 0.5, toBestOf: ["bare counter loop"] },
    { form: "one grant", heapBytesAtMost: 0 },
    { form: "grants of 64", heapBytesAtMost: 0 },
    { form: "grants of 1", heapBytesAtMost: 0 },
  ],
});

const ulid = monotonicFactory();
const CALLS = 64;

// Many calls a run, because one is too short to time; a loop of its own for each form, because one loop for all three would
// make every call an indirect one.
function timestamps(): bigint {
  let last = 0n;
  for (let call = 0; call < CALLS; call++) last = unwrap(allocator.tryGrantTimestamp(NOW_MS));
  return last;
}

function ranges(): number {
  let last = 0;
  for (let call = 0; call < CALLS; call++) last = unwrap(allocator.tryGrant(NOW_MS, 1)).logicalStart;
  return last;
}

function ulids(): string {
  let last = "";
  for (let call = 0; call < CALLS; call++) last = ulid(NOW_MS);
  return last;
}

compare("one timestamp as a value", {
  forms: { "tryGrantTimestamp, a bigint": timestamps, "tryGrant, a range of one": ranges, "ulid, monotonic": ulids },
  options: { callsPerRun: CALLS },
  bounds: [{ form: "tryGrantTimestamp, a bigint", ratioAtMost: 1 / 10, toBestOf: ["ulid, monotonic"] }],
});
