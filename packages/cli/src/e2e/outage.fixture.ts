// A run whose store becomes unavailable in the middle, and comes back.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { RunId, TenantId } from "@gossip/contracts";
import { Coordinator, systemClock, type CoordinationStore, type RunRequest } from "@gossip/coordination";
import { unwrap } from "@gossip/stdx";
import { effort } from "@gossip/tools/effort";
import {
  assembleNdjson,
  iterableSource,
  ndjsonSink,
  runWorkers,
  sinkTokens,
  startRun,
  type Item,
  type Sink,
  type WorkerEvent,
} from "@gossip/worker";
import { expect } from "vitest";

/** How long the store stays away after it was found to be: no longer than needed in `npm test`. */
export const OUTAGES: readonly Outage[] = effort<readonly Outage[]>({
  usual: [
    { name: "a moment", until: "Noticed", ms: 0 },
    { name: "longer than the lease", until: "LeasesExpired", ms: 0 },
  ],
  exploring: [
    { name: "60 seconds", until: "LeasesExpired", ms: 60_000 },
    { name: "5 minutes", until: "LeasesExpired", ms: 300_000 },
  ],
});

export interface Outage {
  readonly name: string;
  /** The store comes back when the worker has noticed, or when a lease has expired; and after `ms` more. */
  readonly until: "Noticed" | "LeasesExpired";
  readonly ms: number;
}

export interface OutageOptions {
  readonly store: CoordinationStore;
  /** Each test of one store has a run of its own. */
  readonly run: bigint;
  readonly outage: Outage;
  readonly begin: () => Promise<void>;
  readonly end: () => Promise<void>;
  /** Bytes to add to every cursor token. A store on a full disk fails only if it needs more room. */
  readonly padding?: () => number;
  /** Where the results go. Default: a temporary folder. */
  readonly folder?: string;
}

const COUNT = 400;
const SHARDS = 16;
const WORKERS = 2;
const ITEMS_BEFORE = 60;
const LEASE_MS = 1500;

/** What a worker reports, and a way to wait for it. */
class Watch {
  readonly events: WorkerEvent[] = [];
  readonly #waiting = new Set<() => void>();
  #isOver = false;

  onEvent(event: WorkerEvent): void {
    this.events.push(event);
    this.#wake();
  }

  /** The work is over. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  count(kind: WorkerEvent["kind"]): number {
    return this.events.filter((event) => event.kind === kind).length;
  }

  async seen(isSeen: () => boolean): Promise<void> {
    while (!isSeen()) {
      if (this.#isOver) throw new Error("the work ended before the outage was noticed");
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  #wake(): void {
    for (const each of this.#waiting) each();
    this.#waiting.clear();
  }
}

/** Expects that the run is finished after the outage, by the same worker, with every result once. */
export async function surviveOutage(options: OutageOptions): Promise<void> {
  const { store, run, outage, begin, end, padding = () => 0 } = options;
  const folder = mkdtempSync(join(options.folder ?? tmpdir(), "gossip-outage-"));
  const path = join(folder, "out.ndjson");
  const coordinator = new Coordinator({ store, clock: systemClock(Date.now) });
  const request = { tenant: TenantId.ZERO, run: RunId.fromRaw(run) };
  const keyOf = (n: number): Uint8Array => Buffer.from(String(n).padStart(4, "0"));
  const source = iterableSource({ name: "numbers", items: Array.from({ length: COUNT }, (_, n) => n), keyOf });
  unwrap(
    await startRun({
      coordinator,
      run: request,
      source,
      shardCount: SHARDS,
      config: { leaseDuration: BigInt(LEASE_MS) },
    }),
  );
  const watch = new Watch();
  let begun = 0;
  let isOut = false;
  let ended: Promise<void> | undefined;
  const cut = async (): Promise<void> => {
    await begin();
    isOut = true;
    // A full disk fails the results first, if they are on it. Renewing a lease takes no room.
    if (options.folder !== undefined) await watch.seen(() => watch.count("SinkUnavailable") > 0);
    else await watch.seen(() => watch.count("StoreUnavailable") > 0);
    // The shard of the item that began the outage is held, so its lease expires. The other worker may be between shards.
    if (options.folder === undefined && outage.until === "LeasesExpired")
      await watch.seen(() => watch.count("LeaseLost") > 0);
    await setTimeout(outage.ms);
    isOut = false;
    await end();
  };
  try {
    const summary = await runWorkers({
      coordinator,
      run: request,
      source,
      concurrency: WORKERS,
      checkpointEvery: { items: 20, ms: 50 },
      split: false,
      sink: paddedSink(ndjsonSink({ path }), padding),
      // After the outage has begun, items are slow: they would all be done before the worker has noticed.
      process: async ({ value }) => {
        if (++begun === ITEMS_BEFORE) {
          ended = cut();
          ended.catch(() => undefined);
        }
        await setTimeout(isOut ? 50 : 1);
        return { n: value };
      },
      onEvent: (event) => watch.onEvent(event),
    });
    watch.end();
    await ended;

    expect(summary).toMatchObject({ stopped: { kind: "Done" }, failures: 0, shards: { parked: 0 } });
    expect(watch.count("StoreBack")).toBe(watch.count("StoreUnavailable"));
    for (const event of watch.events) if (event.kind === "LeaseLost") expect(event).toMatchObject({ isTaken: false });
    await expectResults(coordinator, request, path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Expects every number once, in order. */
async function expectResults(coordinator: Coordinator, request: RunRequest, path: string): Promise<void> {
  const tokens = unwrap(await sinkTokens(coordinator, request)).map(withoutPadding);
  unwrap(await assembleNdjson({ path, run: request.run, tokens }));
  const results = readFileSync(path, "utf8").trimEnd().split("\n");
  expect(results.map((line) => (JSON.parse(line) as { n: number }).n)).toEqual(
    Array.from({ length: COUNT }, (_, n) => n),
  );
}

/** Adds bytes to the tokens of a sink. The first byte is the size of the token. */
function paddedSink<I extends Item, R>(inner: Sink<I, R>, padding: () => number): Sink<I, R> {
  return {
    async open(request) {
      const opened = await inner.open({ ...request, token: withoutPadding(request.token) });
      return {
        write: (item, result) => opened.write(item, result),
        flush: async () => {
          const token = await opened.flush();
          return Buffer.concat([Buffer.of(token.length), token, Buffer.alloc(padding(), 1)]);
        },
        close: () => opened.close(),
      };
    },
  };
}

function withoutPadding(token: Uint8Array | undefined): Uint8Array | undefined {
  return token?.slice(1, 1 + token[0]!);
}
