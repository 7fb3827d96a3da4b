import type { SourceCase } from "./source-case.ts";
import type { SourceWorld } from "./source-world.ts";

const OFTEN = 8;

/** What happens to a reading that is not finished. */
export const stoppingCases: readonly SourceCase[] = [
  {
    name: "a reading whose signal has been aborted gives nothing and ends",
    async run(world) {
      const controller = new AbortController();
      controller.abort();
      world.expect(await countItems(world, controller.signal)).toBe(0);
    },
  },
  {
    name: "an abort stops a reading: at most what was on its way still comes",
    async run(world) {
      const controller = new AbortController();
      let batchesAfter = 0;
      await ignoreAbort(controller.signal, async () => {
        for await (const { items } of world.batches({ signal: controller.signal })) {
          if (controller.signal.aborted) batchesAfter++;
          if (items.length > 0) controller.abort();
        }
      });
      world.expect(batchesAfter <= 1).toBe(true);
    },
  },
  {
    name: "a reading that is left early leaves nothing open",
    async run(world) {
      const before = await world.openHandles();
      for (let attempt = 0; attempt < OFTEN; attempt++) {
        for await (const { items } of world.batches()) if (items.length > 0) break;
      }
      world.expect(await world.openHandles()).toBe(before);
    },
  },
  {
    name: "a reading that ends, is aborted or never begins leaves nothing open",
    async run(world) {
      const before = await world.openHandles();
      for (let attempt = 0; attempt < OFTEN; attempt++) {
        await world.read();
        world.batches();
        const controller = new AbortController();
        await ignoreAbort(controller.signal, async () => {
          for await (const { items } of world.batches({ signal: controller.signal }))
            if (items.length > 0) controller.abort();
        });
      }
      world.expect(await world.openHandles()).toBe(before);
    },
  },
  {
    name: "a plan and a split point leave nothing open",
    async run(world) {
      const before = await world.openHandles();
      for (let attempt = 0; attempt < OFTEN; attempt++) {
        const plan = await world.source.plan({ shardCount: 4 });
        if (!plan.ok) continue;
        const { keyRangeStart: start, keyRangeEnd: end } = plan.value[0]!;
        await world.source.splitPoint?.({ range: { start, end }, samples: [] });
      }
      world.expect(await world.openHandles()).toBe(before);
    },
  },
  {
    name: "a source that is closed holds nothing open, and may be closed again",
    async run(world) {
      await world.read();
      await world.source.close?.();
      await world.source.close?.();
      world.expect(await world.openHandles()).toBe(0);
    },
  },
];

async function countItems(world: SourceWorld, signal: AbortSignal): Promise<number> {
  let count = 0;
  await ignoreAbort(signal, async () => {
    for await (const { items } of world.batches({ signal })) count += items.length;
  });
  return count;
}

/** An aborted reading may end, or throw. */
async function ignoreAbort(signal: AbortSignal, read: () => Promise<void>): Promise<void> {
  try {
    await read();
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
  }
}
