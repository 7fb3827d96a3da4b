import { ShardSpec } from "@gossip/contracts";
import { evenSplitPoints } from "@gossip/frontier";
import { compareBytes, ok } from "@gossip/stdx";
import type { Item, ItemBatch, Source } from "../sources/source.ts";
import type { JobWorld } from "./job-world.fixture.ts";

export interface JobItem extends Item {
  readonly n: number;
}

const BATCH_SIZE = 256;
const KEY_SPACE = { start: Uint8Array.of(0x10), end: Uint8Array.of(0xf0) };
const WIDTH = 0xe0 * 2 ** 40;
const PREFIX = new TextEncoder().encode("data/2026/11/");

/** The items of a job. It plans by key space and offers no split points, like a source that knows only its bounds. */
export function jobSource(world: JobWorld): Source<JobItem> {
  const count = world.costs.length;
  const keyOf = keysOf(world);
  /** The number of items below the key. */
  const rankOf = (key: Uint8Array, isIncluded: boolean): number => {
    let [low, high] = [0, count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = compareBytes(keyOf(middle), key);
      if (order < 0 || (isIncluded && order === 0)) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return {
    name: "job",
    plan: async ({ shardCount }) => {
      const bounds = [KEY_SPACE.start, ...evenSplitPoints(KEY_SPACE, shardCount), KEY_SPACE.end];
      return ok(bounds.slice(1).map((end, index) => ShardSpec.withRange({ start: bounds[index]!, end })));
    },
    async *read({ range, after }): AsyncGenerator<ItemBatch<JobItem>> {
      const last = range.end.length === 0 ? count : rankOf(range.end, false);
      let next = Math.max(rankOf(range.start, false), after === undefined ? 0 : rankOf(after, true));
      for (; next < last; next += BATCH_SIZE) {
        const items: JobItem[] = [];
        for (let n = next; n < Math.min(last, next + BATCH_SIZE); n++) items.push({ n, key: keyOf(n) });
        yield { items };
      }
    },
  };
}

function keysOf({ costs, keys }: JobWorld): (n: number) => Uint8Array {
  const count = costs.length;
  const even = (part: number): Uint8Array => binaryKey(0x10 * 2 ** 40 + Math.floor(part * (WIDTH - 1)));
  if (keys === "Even") return (n) => even((n + 0.5) / count);
  if (keys === "OnePrefix") return (n) => textKey(n);
  // Half of the cold items, the hot ones below one prefix, then the other half.
  const cold = Math.max(1, Math.floor(0.005 * count));
  const hot = count - 2 * cold;
  return (n) => {
    if (n < cold) return even((0.36 * (n + 0.5)) / cold);
    return n < cold + hot ? textKey(n - cold) : even(0.5 + (0.49 * (n - cold - hot + 0.5)) / cold);
  };
}

function binaryKey(value: number): Uint8Array {
  const key = new Uint8Array(6);
  const view = new DataView(key.buffer);
  view.setUint16(0, Math.floor(value / 2 ** 32));
  view.setUint32(2, value % 2 ** 32);
  return key;
}

/** `data/2026/11/` and eight decimal digits. */
function textKey(n: number): Uint8Array {
  const key = new Uint8Array(PREFIX.length + 8);
  key.set(PREFIX);
  for (let at = key.length - 1, rest = n; at >= PREFIX.length; at--, rest = Math.floor(rest / 10))
    key[at] = 0x30 + (rest % 10);
  return key;
}
