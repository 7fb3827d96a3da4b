// A folder that could not be read hides what is in it. A retry that forgets what still fails below it loses items for
// good, and one that reads too much processes items twice.
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import {
  Coordinator,
  MemoryStore,
  RANGE_EXHAUSTED,
  systemClock,
  type FailureInput,
  type RunRequest,
} from "@gossip/coordination";
import { compareBytes, unwrap } from "@gossip/stdx";
import { effort } from "@gossip/tools/effort";
import type { ItemBatch, ReadRequest, Source } from "@gossip/worker";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { OpenedStore } from "../../store-url/opened-store.ts";
import { FailedItemsSource } from "./failed-items-source.ts";
import { failuresLeft } from "./failures-left.ts";
import { findRetry, findDoneRetries, resolveRetried } from "./retries.ts";

const FILES = ["a", "b/1", "b/2", "b/x/1", "b/x/2", "b/x/y/1", "b/x0", "b/z", "c/1", "c/2", "d"];
const FOLDERS = ["b/", "b/x/", "b/x/y/", "c/"];
const END = Buffer.from([0xff]);
const text = (key: Uint8Array): string => Buffer.from(key).toString("latin1");
const slashesOf = (prefix: string): number => prefix.split("/").length - 1;

/** What a tree is like during a run. */
interface Trouble {
  /** Folders that cannot be listed. */
  readonly closed: readonly string[];
  /** Files that cannot be processed. */
  readonly failing: readonly string[];
  /** Where the run is cut into shards. */
  readonly cuts: readonly string[];
}

/** A tree with the keys of `fileTreeSource`. */
class TroubledTree implements Source {
  readonly name = "fs";
  readonly #closed: readonly string[];

  constructor({ closed }: Pick<Trouble, "closed">) {
    this.#closed = closed;
  }

  async plan(): Promise<never> {
    throw new Error("these tests cut the range themselves");
  }

  async *read({ range }: ReadRequest): AsyncGenerator<ItemBatch> {
    const [start, end] = [text(range.start), text(range.end)];
    const isBelowEnd = (key: string): boolean => end === "" || key < end;
    const told = new Set<string>();
    for (const path of FILES) {
      const folder = this.#closed.filter((each) => path.startsWith(each)).toSorted()[0];
      if (folder === undefined) {
        if (path >= start && isBelowEnd(path)) yield { items: [{ key: Buffer.from(path) }], problems: [] };
        continue;
      }
      const afterFolder = `${folder.slice(0, -1)}0`;
      if (told.has(folder) || afterFolder <= start || !isBelowEnd(folder)) continue;
      told.add(folder);
      const height = 0xffff - slashesOf(folder);
      const marked = `${start.split("\0")[0]}\0${String.fromCharCode(height >> 8, height & 0xff)}`;
      const key = start <= folder ? folder : marked >= start && isBelowEnd(marked) ? marked : start;
      yield { items: [], problems: [{ key: Buffer.from(key, "latin1"), reason: "closed" }] };
    }
  }
}

/** Reads a source to its end, as the workers of a run do. Returns what succeeded. */
async function carryOut(
  { coordinator }: OpenedStore,
  request: RunRequest,
  { source, failing, cuts }: Trouble & { readonly source: Source },
): Promise<string[]> {
  const bounds = [Buffer.from([1]), ...[...new Set(cuts)].toSorted().map((cut) => Buffer.from(cut)), END];
  const shards = bounds.slice(1).map((end, index) => ({
    shard: ShardId.fromRaw(BigInt(index + 1)),
    spec: ShardSpec.withRange({ start: bounds[index]!, end }),
    cursor: Cursor.initial(),
  }));
  const config = { leaseDuration: 100_000n };
  unwrap(await coordinator.createRunWithShards({ ...request, config, shards, opId: OpId.random() }));
  const succeeded: string[] = [];
  for (const [index, { shard }] of shards.entries()) {
    const key = { run: request.run, shard };
    const session = unwrap(await coordinator.openSession({ ...request, key, worker: WorkerId.fromRaw(1n) }));
    const failures: FailureInput[] = [];
    let last: Uint8Array | undefined;
    const range = { start: bounds[index]!, end: bounds[index + 1]! };
    for await (const { items, problems = [] } of source.read({ range, signal: new AbortController().signal })) {
      for (const { key: at } of [...items, ...problems]) {
        expect(last === undefined || compareBytes(last, at) < 0).toBe(true);
        last = at;
      }
      for (const item of items)
        if (failing.includes(text(item.key)))
          failures.push({ key: item.key, attempts: 1, reason: "ItemFailed", error: "no" });
        else succeeded.push(text(item.key));
      for (const problem of problems)
        failures.push({ key: problem.key, attempts: 1, reason: "Unreadable", error: problem.reason });
    }
    if (last !== undefined) unwrap(await session.checkpoint(Cursor.withLastKey(last), { failures }));
    unwrap(await session.complete(RANGE_EXHAUSTED));
  }
  unwrap(await coordinator.completeRun({ ...request, opId: OpId.random() }));
  return succeeded;
}

async function leftOf(opened: OpenedStore, request: RunRequest): Promise<string[]> {
  const doneRetries = unwrap(await findDoneRetries(opened, request));
  const keys: string[] = [];
  for await (const page of failuresLeft({ opened, request, sourceName: "fs", doneRetries }))
    keys.push(...unwrap(page).map(({ failure }) => text(failure.key)));
  return keys;
}

const openStore = (): OpenedStore => {
  const coordinator = new Coordinator({ store: new MemoryStore(), clock: systemClock(Date.now) });
  return { coordinator } as unknown as OpenedStore;
};
const request = { tenant: TenantId.ZERO, run: RunId.fromRaw(1n) };
const failed = { request, sourceName: "fs" };

async function retryOnce(opened: OpenedStore, trouble: Trouble): Promise<string[]> {
  const { request: retry, doneRetries } = unwrap(await findRetry(opened, failed));
  const source = new FailedItemsSource({ opened, request, doneRetries, source: new TroubledTree(trouble) });
  return carryOut(opened, retry, { ...trouble, source });
}

const NO_TROUBLE: Trouble = { closed: [], failing: [], cuts: [] };
const trouble: fc.Arbitrary<Trouble> = fc.record({
  closed: fc.subarray(FOLDERS),
  failing: fc.subarray(FILES),
  cuts: fc.subarray([...FILES, ...FOLDERS], { maxLength: 3 }),
});

test("every item succeeds exactly once, whatever folders and files fail in the retries, and nothing else is tried", async () => {
  await fc.assert(
    fc.asyncProperty(trouble, fc.array(fc.tuple(trouble, fc.boolean()), { maxLength: 3 }), async (first, retries) => {
      const opened = openStore();
      const all = await carryOut(opened, request, { ...first, source: new TroubledTree(first) });
      for (const [each, isKilled] of retries) {
        all.push(...(await retryOnce(opened, each)));
        // A process that is killed here leaves this to the next retry.
        if (isKilled) continue;
        const last = unwrap(await findDoneRetries(opened, request)).at(-1)!;
        unwrap(await resolveRetried(opened, failed, last));
        expect((await leftOf(opened, request)).length === 0).toBe(new Set(all).size === FILES.length);
      }
      all.push(...(await retryOnce(opened, NO_TROUBLE)));
      expect(all.toSorted()).toEqual(FILES.toSorted());
      unwrap(await findRetry(opened, failed));
      expect(await leftOf(opened, request)).toEqual([]);
      expect(unwrap(await opened.coordinator.countFailures(request))).toBe(0);
    }),
    { numRuns: effort({ usual: 60, exploring: 5000 }) },
  );
});

test("a folder is left, whole, if the retry that read it was deleted", async () => {
  const opened = openStore();
  const closed = { ...NO_TROUBLE, closed: ["b/"] };
  await carryOut(opened, request, { ...closed, source: new TroubledTree(closed) });
  const { request: retry } = unwrap(await findRetry(opened, failed));
  await retryOnce(opened, { ...NO_TROUBLE, failing: ["b/2"] });
  unwrap(await resolveRetried(opened, failed, retry));
  expect(await leftOf(opened, request)).toEqual(["b/2"]);
  unwrap(await opened.coordinator.deleteRun(retry));
  expect(await leftOf(opened, request)).toEqual(["b/"]);
  expect(await retryOnce(opened, NO_TROUBLE)).toEqual(FILES.filter((path) => path.startsWith("b/")));
});
