// A plan that is made twice covers the keyspace twice; one that is half made leaves a part of it without a shard.

import { OpId, ShardSpec } from "@gossip/contracts";
import type { ShardPosition } from "@gossip/coordination";
import { decodeConnectorExtra, decodeHint } from "@gossip/frontier";
import { err, ok, unwrap } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import type { Source } from "../sources/source.ts";
import { startRun, type StartRunOptions } from "./start-run.ts";
import { numberedSource, RUN, World } from "./world.fixture.ts";

const CONFIG = { leaseDuration: 1000n };

function setUp(change: Partial<StartRunOptions> = {}) {
  const world = new World();
  let plans = 0;
  const numbers = numberedSource(100);
  const source: Source = {
    ...numbers,
    plan: (request) => {
      plans++;
      // One shard per item at most: a range without an item between its bounds would be empty.
      return numbers.plan({ ...request, shardCount: Math.min(request.shardCount, 100) });
    },
  };
  const options: StartRunOptions = {
    coordinator: world.coordinator,
    run: RUN,
    source,
    config: CONFIG,
    shardCount: 4,
    ...change,
  };
  return { world, options, plans: () => plans };
}

describe("startRun", () => {
  test("creates the run with the source's shards, and joins it from then on without planning again", async () => {
    const { world, options, plans } = setUp();
    expect(unwrap(await startRun(options))).toMatchObject({ kind: "Created", record: { status: "Active" } });
    expect(unwrap(await startRun({ ...options, shardCount: 9 }))).toMatchObject({
      kind: "Joined",
      record: { status: "Active" },
    });
    expect(plans()).toBe(1);
    expect(unwrap(await world.coordinator.getRunProgress(RUN))).toMatchObject({ total: 4, active: 4 });
  });

  test("of several that start at once one creates the run and the others join it", async () => {
    const { world, options } = setUp();
    const started = await Promise.all(
      [2, 3, 4, 5].map((shardCount) => startRun({ ...options, coordinator: world.connect(), shardCount })),
    );
    expect(started.map((result) => unwrap(result).kind).toSorted()).toEqual(["Created", "Joined", "Joined", "Joined"]);
    const shardCount = [2, 3, 4, 5][started.findIndex((result) => unwrap(result).kind === "Created")];
    expect(unwrap(await world.coordinator.getRunProgress(RUN)).total).toBe(shardCount);
  });

  test("a run that has no shards yet gets them", async () => {
    const { world, options } = setUp();
    unwrap(await world.coordinator.createRun({ ...RUN, config: CONFIG }));
    expect(unwrap(await startRun(options)).kind).toBe("Created");
    expect(unwrap(await world.coordinator.getRunProgress(RUN)).total).toBe(4);
  });

  test("a run that has ended is joined as it is", async () => {
    const { world, options } = setUp();
    unwrap(await startRun(options));
    unwrap(await world.coordinator.cancelRun({ ...RUN, opId: OpId.random() }));
    expect(unwrap(await startRun(options))).toMatchObject({ kind: "Joined", record: { status: "Cancelled" } });
  });

  test("other settings are refused, be it the configuration or what the caller keeps with the shards", async () => {
    const { options, world } = setUp();
    const connectorExtra = Uint8Array.of(1, 2, 3);
    unwrap(await startRun({ ...options, connectorExtra }));
    expect(await startRun({ ...options, connectorExtra, config: { leaseDuration: 2000n } })).toMatchObject({
      error: { kind: "ConfigMismatch" },
    });
    expect(await startRun({ ...options, connectorExtra, config: { leaseDuration: 0n } })).toMatchObject({
      error: { kind: "InvalidConfig" },
    });
    expect(await startRun({ ...options, connectorExtra: Uint8Array.of(1, 2, 4) })).toMatchObject({
      error: { kind: "SettingsMismatch" },
    });
    expect(await startRun({ ...options, connectorExtra: new Uint8Array() })).toMatchObject({
      error: { kind: "SettingsMismatch" },
    });
    expect(unwrap(await startRun({ ...options, connectorExtra })).kind).toBe("Joined");
    expect(unwrap(await startRun(options)).kind).toBe("Joined");
    const [shard] = unwrap(await world.coordinator.listShards(RUN)).items;
    const record = unwrap(
      await world.coordinator.getShard({ tenant: RUN.tenant, key: { run: RUN.run, shard: shard!.shard } }),
    )!;
    expect(unwrap(decodeConnectorExtra(record.spec))).toEqual(connectorExtra);
    expect(unwrap(decodeHint(record.spec)).kind).toBe("Range");
  });

  test("what the source says is handed on, and nothing is created", async () => {
    const missing = { kind: "SourceMissing", reason: "there is no such folder" } as const;
    const { world, options } = setUp();
    expect(await startRun({ ...options, source: { ...options.source, plan: async () => err(missing) } })).toEqual(
      err(missing),
    );
    expect(
      await startRun({ ...options, source: { ...options.source, plan: async () => ok([ShardSpec.unbounded()]) } }),
    ).toMatchObject({
      error: { kind: "RegisterShardsFailed", reason: { kind: "ManifestInvalid" } },
    });
    expect(await startRun({ ...options, signal: AbortSignal.abort() })).toEqual(err({ kind: "Aborted" }));
    expect(await world.coordinator.getRun(RUN)).toMatchObject({ error: { kind: "RunNotFound" } });
  });

  test("the settings have no place beside bytes of the source's own", async () => {
    const { options } = setUp({ connectorExtra: Uint8Array.of(9) });
    const spec = ShardSpec.withRangeAndMetadata({
      start: Uint8Array.of(1),
      end: Uint8Array.of(2),
      metadata: Uint8Array.of(0, 0, 0, 0, 5),
    });
    void spec;
    expect(await startRun({ ...options, source: { ...options.source, plan: async () => ok([spec]) } })).toMatchObject({
      error: { kind: "SourceInvalid" },
    });
  });

  test.each([
    [{ shardCount: 0 }, "shardCount must be a whole number from 1"],
    [{ source: {} as Source }, "source must be a Source"],
    [{ coordinator: {} as never }, "coordinator must be a Coordinator"],
    [{ connectorExtra: "text" as never }, "connectorExtra must be"],
  ])("nonsense is refused: %o", async (change, sentence) => {
    const { options } = setUp();
    await expect(startRun({ ...options, ...change })).rejects.toThrow(sentence);
  });
});

describe("startRun with more shards than one call may register", () => {
  const MANY = 25_000;
  const total = async (world: World) => unwrap(await world.coordinator.getRunProgress(RUN)).total;

  test("cuts the planned shards further and registers them in pages", async () => {
    const { world, options, plans } = setUp({ shardCount: MANY });
    expect(unwrap(await startRun(options))).toMatchObject({ kind: "Created", record: { status: "Active" } });
    expect(await total(world)).toBeGreaterThanOrEqual(MANY);
    expect(unwrap(await startRun(options))).toMatchObject({ kind: "Joined", record: { status: "Active" } });
    expect(plans()).toBe(1);
    // Nothing is missing between them.
    const bounds = new Map<string, string>();
    let after: ShardPosition | undefined;
    do {
      const page = unwrap(await world.coordinator.listShards({ ...RUN, limit: 10_000, after }));
      for (const { keyRangeStart, keyRangeEnd } of page.items)
        bounds.set(Buffer.from(keyRangeStart).toString("hex"), Buffer.from(keyRangeEnd).toString("hex"));
      after = page.next;
    } while (after !== undefined);
    let at = "6b";
    let parts = 0;
    for (; at !== "6c"; parts++) at = bounds.get(at) ?? "6c";
    expect(parts).toBe(bounds.size);
  });

  test("continues where a process was stopped, and two at once register every page once", async () => {
    const { world, options } = setUp({ shardCount: MANY });
    const stop = new AbortController();
    let pages = 0;
    const stopping = new Proxy(world.coordinator, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return async (...args: unknown[]) => {
          const result: unknown = await Reflect.apply(value, target, args);
          if (name === "registerShards" && ++pages === 1) stop.abort();
          return result;
        };
      },
    });
    expect(await startRun({ ...options, coordinator: stopping, signal: stop.signal })).toMatchObject({
      error: { kind: "Aborted" },
    });
    expect(unwrap(await world.coordinator.getRun(RUN)).status).toBe("Initializing");
    expect(await total(world)).toBe(0);
    const started = await Promise.all([1, 2].map(() => startRun({ ...options, coordinator: world.connect() })));
    expect(started.map((result) => unwrap(result).record.status)).toEqual(["Active", "Active"]);
    const alone = setUp({ shardCount: MANY });
    unwrap(await startRun(alone.options));
    expect(await total(world)).toBe(await total(alone.world));
  });
});
