// These run for every item. What they leave on the heap, the collector takes away while the event loop should be renewing leases. The
// bound is that of noise: a promise is 50 bytes, a boxed number 16.

import { heapBytesPerCall } from "@gossip/tools/heap";
import { expect, test, vi } from "vitest";
import type { Item } from "../sources/source.ts";
import { KeySampler } from "../split/key-sampler.ts";
import { FinishedPrefix } from "./finished-prefix.ts";
import type { ItemContext } from "./item-context.ts";
import { ItemFlow } from "./item-flow.ts";
import type { ShardHost } from "./shard-host.ts";

// On a busy machine they take longer than a test is usually given.
vi.setConfig({ testTimeout: 120_000 });

const NOISE_BYTES = 4;
const items: readonly Item[] = Array.from({ length: 8 }, (_, index) => ({ key: Uint8Array.of(1, index) }));

function makeFlow(isHeldBack: () => boolean): ItemFlow<Item, undefined> {
  const host = {
    settings: { itemConcurrency: 1, process: () => undefined },
    limiter: { took: () => undefined },
  } as unknown as ShardHost<Item, undefined>;
  let finished = 0;
  return new ItemFlow<Item, undefined>(host, {} as ItemContext, {
    isHeldBack,
    onFinished: () => void finished++,
    onSkipped: () => undefined,
    onPassed: () => undefined,
    onHopeless: () => undefined,
    onChange: () => undefined,
  });
}

test("an item that is done when the call is leaves nothing on the heap", () => {
  const flow = makeFlow(() => false);
  const bytes = heapBytesPerCall((calls) => {
    for (let call = 0; call < calls; call++) flow.begin(items[call % 8]!);
  }, 20_000);
  expect(bytes).toBeLessThan(NOISE_BYTES);
});

test("nor does its place in the window, where it has to wait for one", () => {
  const window = new FinishedPrefix<Item, undefined>(64);
  const take = (): void => undefined;
  const bytes = heapBytesPerCall((calls) => {
    for (let call = 0; call < calls; call++) {
      window.finish(window.open(items[call % 8]!), undefined);
      window.drain(take);
    }
  }, 20_000);
  expect(bytes).toBeLessThan(NOISE_BYTES);
});

test("nor a sample of its key, but for a few", () => {
  const sampler = new KeySampler();
  for (let n = 0; n < 1_000_000; n++) sampler.add(items[n % 8]!);
  const bytes = heapBytesPerCall((calls) => {
    for (let call = 0; call < calls; call++) sampler.add(items[call % 8]!);
  }, 20_000);
  expect(bytes).toBeLessThan(NOISE_BYTES);
});

test("a promise does, or these would say nothing", () => {
  const bytes = heapBytesPerCall((calls) => {
    for (let call = 0; call < calls; call++) void Promise.resolve(items[call % 8]);
  }, 20_000);
  expect(bytes).toBeGreaterThan(NOISE_BYTES);
});
