// A source may make the key of an item each time that it is read, as the lines of a file do. Five more arrays for each of a
// million lines cost more than the rest of the runtime.

import { expect, test } from "vitest";
import type { Source } from "../sources/source.ts";
import { runWorkers } from "./run-workers.ts";
import { type NumberedItem, numberedSource, RUN, TokenSink, World } from "./world.fixture.ts";

const COUNT = 5000;

test("the key of an item is read once, and those of few items again", async () => {
  const world = new World();
  const source = numberedSource(COUNT, { batchSize: 500 });
  await world.start(source);
  let reads = 0;
  const counting: Source<NumberedItem> = {
    ...source,
    async *read(request) {
      for await (const { items } of source.read(request))
        yield {
          items: items.map(({ key, n }) => ({
            n,
            get key() {
              reads++;
              return key;
            },
          })),
        };
    },
  };
  const sink = new TokenSink();
  const { coordinator, time } = world;
  const process = ({ n }: NumberedItem): Promise<number> => Promise.resolve(n);
  const work = runWorkers({ coordinator, run: RUN, source: counting, sink, time, process, itemConcurrency: 8 });
  expect(await time.runUntil(work)).toMatchObject({ stopped: { kind: "Done" }, items: COUNT });
  // The order of all is checked. Beside that: samples, the first and last of a batch, and checkpoints.
  expect(reads).toBeGreaterThanOrEqual(COUNT);
  expect(reads).toBeLessThan(1.2 * COUNT);
});
