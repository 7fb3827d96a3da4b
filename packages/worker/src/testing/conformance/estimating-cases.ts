import { compareBytes } from "@gossip/stdx";
import type { WorkEstimate } from "../../sources/work-estimate.ts";
import type { SourceCase } from "./source-case.ts";
import type { SourceWorld } from "./source-world.ts";

/** Enough for the small sources of a test. An estimate that takes more steps never ends. */
const MOST_STEPS = 10_000;

/** What a source may say about the number of its items. It may say nothing. */
export const estimatingCases: readonly SourceCase[] = [
  {
    name: "an estimate has spans in key order, without overlaps, with item counts that are not negative",
    async run(world) {
      let steps = 0;
      for await (const { spans } of estimatesOf(world)) {
        for (const [index, { start, end, items }] of spans.entries()) {
          world.expect(Number.isFinite(items) && items >= 0).toBe(true);
          const next = spans[index + 1];
          if (end.length > 0) world.expect(compareBytes(start, end) < 0).toBe(true);
          if (next !== undefined) world.expect(end.length > 0 && compareBytes(end, next.start) <= 0).toBe(true);
        }
        if (++steps > MOST_STEPS) break;
      }
    },
  },
  {
    name: "an abort stops an estimate: at most one more comes",
    async run(world) {
      const controller = new AbortController();
      let after = 0;
      try {
        for await (const { spans } of estimatesOf(world, controller.signal)) {
          if (controller.signal.aborted) after++;
          world.expect(spans.length >= 0 && after <= 1).toBe(true);
          controller.abort();
        }
      } catch (thrown) {
        if (!controller.signal.aborted || after > 1) throw thrown;
      }
    },
  },
  {
    name: "an estimate leaves nothing open, whether it ends or is left early",
    async run(world) {
      const before = await world.openHandles();
      let steps = 0;
      for await (const _ of estimatesOf(world)) if (++steps > MOST_STEPS) break;
      for await (const _ of estimatesOf(world)) break;
      estimatesOf(world);
      world.expect(await world.openHandles()).toBe(before);
    },
  },
];

function estimatesOf(
  { source }: SourceWorld,
  signal: AbortSignal = new AbortController().signal,
): AsyncIterable<WorkEstimate> {
  return source.estimate?.({ signal }) ?? none();
}

async function* none(): AsyncGenerator<WorkEstimate> {
  // The source cannot estimate.
}
