// Telemetry goes to places that many people read. A key or a thrown text in it is a leak; an exporter that throws must not stop the work.

import { FenceEpoch, ShardId } from "@gossip/contracts";
import { coordError, InfraError } from "@gossip/coordination-errors";
import { Redacted } from "@gossip/stdx";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { runWorkers } from "../runtime/run-workers.ts";
import type { WorkerEvent, WorkerEventKind } from "../runtime/worker-event.ts";
import { type NumberedItem, numberedSource, RUN, World } from "../runtime/world.fixture.ts";
import { Observer } from "./observer.ts";

const shard = ShardId.fromRaw(10n);
const SECRET = "very-secret-key";
const key = new Redacted(new TextEncoder().encode(SECRET));
const cause = new Redacted<unknown>(Object.assign(new Error(SECRET), { code: "EIO" }));

const SAMPLES: { readonly [K in WorkerEventKind]: WorkerEvent<K> } = {
  ShardClaimed: { kind: "ShardClaimed", shard, fence: FenceEpoch.fromRaw(3n), isResumed: true },
  ShardCheckpointed: { kind: "ShardCheckpointed", shard, items: 4, ms: 12 },
  ShardCompleted: { kind: "ShardCompleted", shard, items: 4 },
  ShardParked: { kind: "ShardParked", shard, items: 4, reason: "Poisoned" },
  ShardReleased: { kind: "ShardReleased", shard, items: 4 },
  LeaseLost: { kind: "LeaseLost", shard, items: 4, cause: "StaleFence", isTaken: true },
  ShardSplit: { kind: "ShardSplit", shard, residual: ShardId.fromRaw(11n) },
  ItemFailed: {
    kind: "ItemFailed",
    shard,
    attempt: 2,
    willRetry: true,
    waitMs: 5,
    item: new Redacted({ key: Redacted.reveal(key) }),
    key,
    keySize: 15,
    cause,
  },
  ItemProblem: { kind: "ItemProblem", shard, key, keySize: 15, reason: "unreadable" },
  SourceFailed: { kind: "SourceFailed", shard, attempt: 1, willRetry: false, waitMs: 0, cause },
  SinkFailed: { kind: "SinkFailed", shard, cause },
  StoreFailed: {
    kind: "StoreFailed",
    shard: undefined,
    operation: "claim",
    error: coordError("BackendError", {
      reason: InfraError.transient({ operation: "claim.read", message: "away", cause: new Error(SECRET) }),
    }),
  },
  StoreUnavailable: { kind: "StoreUnavailable" },
  StoreBack: { kind: "StoreBack", afterMs: 5 },
  SourceUnavailable: { kind: "SourceUnavailable" },
  SourceBack: { kind: "SourceBack", afterMs: 5 },
  SinkUnavailable: { kind: "SinkUnavailable" },
  SinkBack: { kind: "SinkBack", afterMs: 5 },
  RunPaused: { kind: "RunPaused" },
  RunResumed: { kind: "RunResumed", afterMs: 5 },
  Waiting: { kind: "Waiting", freeWorkers: 2, ms: 20 },
  LoopBlocked: { kind: "LoopBlocked", ms: 1500 },
  KeeperFailed: { kind: "KeeperFailed", cause },
};

function makeTelemetry() {
  const spans = new InMemorySpanExporter();
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const meterProvider = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: 3_600_000 })],
  });
  const lines: Record<string, unknown>[] = [];
  const logger = pino(
    { level: "debug", base: null, timestamp: false },
    { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const readMetrics = async (): Promise<Record<string, unknown>> => {
    await meterProvider.forceFlush();
    const last = metrics.getMetrics().at(-1)!;
    const points = last.scopeMetrics
      .flatMap((scope) => scope.metrics)
      .flatMap(({ descriptor, dataPoints }) =>
        dataPoints.map(
          ({ attributes, value }) =>
            [
              [descriptor.name, attributes["gossip.outcome"]].filter(Boolean).join(":"),
              typeof value === "object" ? value.count : value,
            ] as const,
        ),
      );
    await meterProvider.shutdown();
    return Object.fromEntries(points);
  };
  return { spans, tracerProvider, meterProvider, lines, logger, readMetrics };
}

describe("an observer of the work", () => {
  test.each(Object.values(SAMPLES).map((event) => [event.kind, event] as const))(
    "%s shows neither keys nor what was thrown",
    async (_kind, event) => {
      const { spans, tracerProvider, meterProvider, lines, logger } = makeTelemetry();
      const observer = new Observer({
        source: { name: "numbers" },
        logger,
        telemetry: { tracerProvider, meterProvider },
      });
      observer.event(SAMPLES.ShardClaimed);
      observer.event(event);
      observer.event(SAMPLES.ShardReleased);
      await meterProvider.shutdown();

      expect(lines.length).toBe(3);
      const told = JSON.stringify([
        lines,
        spans.getFinishedSpans().map(({ attributes, events, name }) => ({ attributes, events, name })),
      ]);
      expect(told).not.toContain(SECRET);
      expect(told).not.toContain(Buffer.from(SECRET).toString("hex"));
      expect(lines[1]).toMatchObject({ event: event.kind });
      expect(typeof lines[1]!["msg"]).toBe("string");
    },
  );

  test("what was thrown is shown by name and code, ids in hex digits", () => {
    const { lines, logger } = makeTelemetry();
    const observer = new Observer({ source: { name: "numbers" }, logger });
    observer.event(SAMPLES.SourceFailed);
    observer.event(SAMPLES.LeaseLost);
    expect(lines).toMatchObject([
      { level: 40, shard: "000000000000000a", thrown: "Error", code: "EIO", willRetry: false },
      { shard: "000000000000000a", cause: "StaleFence" },
    ]);
  });

  test("the numbers and spans of a run are those of its summary", async () => {
    const world = new World();
    const source = numberedSource(50);
    await world.start(source, 2);
    const { spans, tracerProvider, meterProvider, lines, logger, readMetrics } = makeTelemetry();
    const process = ({ n }: NumberedItem, { attempt }: { attempt: number }) => {
      if (n === 10 && attempt === 1) throw new Error("once");
    };
    const summary = await world.time.runUntil(
      runWorkers({
        coordinator: world.coordinator,
        run: RUN,
        source,
        time: world.time,
        process,
        logger,
        telemetry: { tracerProvider, meterProvider },
      }),
    );

    expect(summary).toMatchObject({ items: 50, retries: 1 });
    expect(await readMetrics()).toMatchObject({
      "gossip.worker.items": 50,
      "gossip.worker.retries": 1,
      "gossip.worker.shards:completed": 2,
    });
    expect(
      spans
        .getFinishedSpans()
        .map(({ name, attributes }) => [name, attributes["gossip.outcome"], attributes["gossip.source"]]),
    ).toEqual([
      ["gossip.shard", "completed", "numbers"],
      ["gossip.shard", "completed", "numbers"],
    ]);
    expect(spans.getFinishedSpans().map(({ attributes }) => attributes["gossip.items"])).toEqual([25, 25]);
    expect(lines.at(-1)).toMatchObject({ items: 50, stopped: "Done", msg: "the work has ended" });
  });

  test("hooks that throw or reject stop nothing", async () => {
    const world = new World();
    const source = numberedSource(20);
    await world.start(source);
    const fail = (): never => {
      throw new Error("the listener's own");
    };
    // The type wants no promise, and an async function fits it all the same.
    const failLater: (event: WorkerEvent) => unknown = () => Promise.reject(new Error("the listener's own"));
    const logger = { debug: fail, info: fail, warn: fail, error: fail };
    const summary = await world.time.runUntil(
      runWorkers({
        coordinator: world.coordinator,
        run: RUN,
        source,
        time: world.time,
        process: () => undefined,
        onEvent: failLater,
        onProgress: fail,
        logger,
      }),
    );
    expect(summary).toMatchObject({ items: 20, stopped: { kind: "Done" } });
  });

  test("progress is reported periodically and at the end", async () => {
    const world = new World();
    const source = numberedSource(100);
    await world.start(source);
    const told: number[] = [];
    const process = () => world.time.sleep(20);
    await world.time.runUntil(
      runWorkers({
        coordinator: world.coordinator,
        run: RUN,
        source,
        time: world.time,
        process,
        onProgress: ({ items }) => void told.push(items),
        progressEveryMs: 400,
      }),
    );
    expect(told.length).toBeGreaterThanOrEqual(5);
    expect(told).toEqual(told.toSorted((a, b) => a - b));
    expect(told.at(-1)).toBe(100);
  });
});
