// A service that is down for a moment must not fail items for good: nothing is wrong with them.

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Coordinator, MemoryStore, systemClock } from "@gossip/coordination";
import { unwrap } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import { runWorkers } from "./run-workers.ts";
import { startRun } from "./start-run.ts";
import type { WorkerEvent } from "./worker-event.ts";
import { numberedSource, RUN, TokenSink, World, type NumberedItem } from "./world.fixture.ts";

const COUNT = 60;
const all = Array.from({ length: COUNT }, (_, n) => n);

/** An HTTP server on a port of its own, which can be stopped and started again. */
class Service {
  port = 0;
  readonly served = new Set<string>();
  #server: Server | undefined;

  async start(): Promise<void> {
    this.#server = createServer((request, response) => {
      this.served.add(request.url ?? "");
      response.end("ok");
    }).listen(this.port, "127.0.0.1");
    await once(this.#server, "listening");
    this.port = (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    const server = this.#server!;
    this.#server = undefined;
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  }
}

describe("an outage of a service that items need", () => {
  test("fails no item: a real HTTP server is stopped, and started again once items have failed", async () => {
    const service = new Service();
    await service.start();
    const source = numberedSource(COUNT);
    const coordinator = new Coordinator({ store: new MemoryStore(), clock: systemClock(Date.now) });
    unwrap(await startRun({ coordinator, run: RUN, source, shardCount: 2, config: { leaseDuration: 30_000n } }));
    let refusals = 0;
    let restarted: Promise<void> | undefined;
    const sink = new TokenSink();
    const onEvent = (event: WorkerEvent): void => {
      // Far more failures than `retry` allows an item.
      if (event.kind === "ItemFailed" && ++refusals === 30) restarted = service.start();
    };
    const process = async ({ n }: NumberedItem): Promise<void> => {
      if (n === 10) await service.stop();
      const response = await fetch(`http://127.0.0.1:${service.port}/${n}`);
      await response.text();
    };

    const summary = await runWorkers({
      coordinator,
      run: RUN,
      source,
      sink,
      process: async (item, context) => process(context.attempt > 1 && item.n === 10 ? { ...item, n: -1 } : item),
      concurrency: 2,
      itemConcurrency: 4,
      retry: { maxAttempts: 2, baseMs: 1 },
      dependencyRetry: { baseMs: 1, maxMs: 20 },
      onItemFailure: "skip",
      onEvent,
    });
    await restarted;
    await service.stop();

    expect(summary).toMatchObject({ stopped: { kind: "Done" }, failures: 0, shards: { parked: 0, lost: 0 } });
    expect((await sink.results(coordinator)).toSorted((a, b) => a - b)).toEqual(all);
    expect(service.served.size).toBe(COUNT);
  });

  const setUp = async () => {
    const world = new World();
    const source = numberedSource(COUNT);
    await world.start(source);
    return { world, base: { coordinator: world.coordinator, run: RUN, source, time: world.time } };
  };
  const refused = (): Error => Object.assign(new Error("no"), { code: "ECONNREFUSED" });

  test("of 15 seconds fails none of 20 concurrent items with the default options", async () => {
    const { world, base } = await setUp();
    const process = async ({ n }: NumberedItem): Promise<void> => {
      await world.time.sleep(20);
      const nowMs = world.time.nowMs();
      if (n >= 0 && nowMs >= 30 && nowMs < 15_030) throw refused();
    };
    const summary = await world.time.runUntil(
      runWorkers({ ...base, process, itemConcurrency: 20, onItemFailure: "skip" }),
    );
    expect(summary).toMatchObject({ items: COUNT, failures: 0, stopped: { kind: "Done" } });
    // The pauses after the outage are no longer than the outage was.
    expect(world.time.nowMs()).toBeLessThan(40_000);
  });

  test("that outlasts patience fails the item", async () => {
    const { world, base } = await setUp();
    const process = ({ n }: NumberedItem): void => {
      if (n === 3) throw refused();
    };
    const patienceMs = 60_000;
    const summary = await world.time.runUntil(runWorkers({ ...base, process, patienceMs, onItemFailure: "skip" }));
    expect(summary).toMatchObject({ items: COUNT - 1, failures: 1, stopped: { kind: "Done" } });
    expect(world.time.nowMs()).toBeGreaterThanOrEqual(patienceMs);
    expect(world.time.nowMs()).toBeLessThan(3 * patienceMs);
  });

  test("is what classifyFailure calls one; it may also give up on an item at once", async () => {
    const { world, base } = await setUp();
    const attempts = new Map<number, number>();
    const process = ({ n }: NumberedItem, { attempt }: { attempt: number }): void => {
      attempts.set(n, attempt);
      if (n === 3 && attempt < 9) throw new Error("busy");
      if (n === 4) throw new Error("malformed");
      if (n === 5) throw new Error("other");
      if (n === 6) throw new Error("unclear");
    };
    const classifyFailure = (error: unknown) => {
      const { message } = error as Error;
      if (message === "unclear") throw new Error("the classifier fails too");
      return message === "busy" ? "Dependency" : message === "malformed" ? "Permanent" : undefined;
    };
    const options = { ...base, process, classifyFailure, onItemFailure: "skip", retry: { maxAttempts: 3 } } as const;
    const summary = await world.time.runUntil(runWorkers(options));
    expect(summary).toMatchObject({ items: COUNT - 3, failures: 3 });
    expect([3, 4, 5, 6].map((n) => attempts.get(n))).toEqual([9, 1, 3, 3]);
  });
});
