import type { FenceEpoch } from "@gossip/contracts";
import type { Coordinator } from "@gossip/coordination";
import { expectTypeOf } from "vitest";
import type { Sink } from "../sinks/sink.ts";
import type { Item, Source } from "../sources/source.ts";
import { runWorkers } from "./run-workers.ts";
import type { StartRunError } from "./start-run-error.ts";
import type { WorkerEvent } from "./worker-event.ts";
import type { StopReason, WorkerSummary } from "./worker-summary.ts";
import { RUN } from "./world.fixture.ts";

interface FileItem extends Item {
  readonly path: string;
}

declare const coordinator: Coordinator;
declare const source: Source<FileItem>;
declare const sizes: Sink<FileItem, number>;

const base = { coordinator, run: RUN, source };

// The type of the item comes from the source, and the context is typed.
expectTypeOf(
  runWorkers({
    ...base,
    process: (item, { fence, signal, attempt }) => {
      expectTypeOf(item).toEqualTypeOf<FileItem>();
      expectTypeOf(fence).toEqualTypeOf<FenceEpoch>();
      expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
      expectTypeOf(attempt).toEqualTypeOf<number>();
    },
  }),
).toEqualTypeOf<Promise<WorkerSummary>>();

// Results fit the sink, waited for or not.
void runWorkers({ ...base, sink: sizes, process: () => 1 });
void runWorkers({ ...base, sink: sizes, process: async () => 1 });
// @ts-expect-error the sink takes numbers
void runWorkers({ ...base, sink: sizes, process: () => "one" });
// @ts-expect-error there is nothing to do
void runWorkers(base);

// A union on kind, all of it.
expectTypeOf<WorkerEvent<"LoopBlocked">>().toEqualTypeOf<{ readonly kind: "LoopBlocked" } & { readonly ms: number }>();
expectTypeOf<StopReason["kind"]>().toEqualTypeOf<
  "Done" | "Aborted" | "RunTerminal" | "RunMissing" | "StoreFailed" | "SourceFailed" | "TooManyFailures" | "SinkFailed"
>();
expectTypeOf<
  Extract<StartRunError, { kind: "SettingsMismatch" | "Aborted" | "SourceMissing" | "ConfigMismatch" }>["kind"]
>().toEqualTypeOf<"SettingsMismatch" | "Aborted" | "SourceMissing" | "ConfigMismatch">();

// Batches: the same items and results, and no single function beside them.
void runWorkers({
  ...base,
  sink: sizes,
  processBatch: async (items) => {
    expectTypeOf(items).toEqualTypeOf<readonly FileItem[]>();
    return items.map(({ path }) => ({ result: path.length }));
  },
});
void runWorkers({ ...base, processBatch: () => undefined, batchSize: 10 });
// @ts-expect-error the sink takes numbers
void runWorkers({ ...base, sink: sizes, processBatch: (items) => items.map(() => ({ result: "one" })) });
