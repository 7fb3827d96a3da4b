// A kit that lets a broken source pass is worse than none, because its author stops looking. So there is a source here for
// every way to break the contract, and the kit must find each of them by the case that is about it.

import { encodeKey, ManifestId, ManifestRow, ManifestRowKey, manifestShard } from "@gossip/frontier";
import { compareBytes, ok, unwrap } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import type { ItemBatch, ReadRequest } from "../../sources/source.ts";
import type { EstimateRequest, WorkEstimate, WorkSpan } from "../../sources/work-estimate.ts";
import { describeSource, runSourceCase, SOURCE_CASES } from "./describe-source.ts";
import { END, fixtureOf, ModelSource, MODEL_KEYS, START, TOO_LONG } from "./model-source.fixture.ts";

describeSource("the model", () => fixtureOf(new ModelSource()), { describe, expect, test });

const ALL = Object.values(SOURCE_CASES).flat();

async function failuresOf(make: () => ModelSource): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const sourceCase of ALL) {
    try {
      await runSourceCase(sourceCase, () => fixtureOf(make()), expect);
    } catch {
      failed.push(sourceCase.name);
    }
  }
  return failed;
}

const withKeys = (change: (keys: readonly Uint8Array[]) => readonly Uint8Array[]) =>
  class extends ModelSource {
    override keys(): readonly Uint8Array[] {
      return change(MODEL_KEYS);
    }
  };

const inRange = (isInRange: (key: Uint8Array, request: ReadRequest) => boolean) =>
  class extends ModelSource {
    override isInRange(key: Uint8Array, request: ReadRequest): boolean {
      return isInRange(key, request);
    }
  };

const right = (key: Uint8Array, request: ReadRequest): boolean => new ModelSource().isInRange(key, request);

const planned = (bounds: (shardCount: number) => readonly Uint8Array[]) =>
  class extends ModelSource {
    override plan({ shardCount }: { readonly shardCount: number }): ReturnType<ModelSource["plan"]> {
      return Promise.resolve(ok(this.shards(bounds(shardCount))));
    }
  };

const splitAt = (point: (request: Parameters<ModelSource["splitPoint"]>[0]) => Uint8Array | undefined) =>
  class extends ModelSource {
    override splitPoint(request: Parameters<ModelSource["splitPoint"]>[0]): Promise<Uint8Array | undefined> {
      return Promise.resolve(point(request));
    }
  };

/** Reads by another rule than its parent. */
const reading = (read: (source: ModelSource, request: ReadRequest) => AsyncGenerator<ItemBatch>) =>
  class extends ModelSource {
    override read(request: ReadRequest): AsyncGenerator<ItemBatch> {
      return read(this, request);
    }
  };

const model = (source: ModelSource, request: ReadRequest) => ModelSource.prototype.read.call(source, request);

async function* leaky(source: ModelSource, request: ReadRequest): AsyncGenerator<ItemBatch> {
  source.openCount++;
  yield* model(source, request);
  source.openCount--;
}

async function* leakyOnAbort(source: ModelSource, request: ReadRequest): AsyncGenerator<ItemBatch> {
  yield* model(source, request);
  if (request.signal.aborted) source.openCount++;
}

async function* deaf(source: ModelSource, request: ReadRequest): AsyncGenerator<ItemBatch> {
  request.signal.throwIfAborted();
  yield* model(source, { ...request, signal: new AbortController().signal });
}

async function* oneBuffer(source: ModelSource, request: ReadRequest): AsyncGenerator<ItemBatch> {
  const shared = new Uint8Array(3);
  for await (const { items } of model(source, request)) {
    for (const { key } of items) {
      shared.set(key);
      yield { items: [{ key: shared.subarray(0, key.length) }] };
    }
  }
}

class OnceOnly extends ModelSource {
  #isUsed = false;
  override async *read(request: ReadRequest): AsyncGenerator<ItemBatch> {
    if (this.#isUsed) return;
    this.#isUsed = true;
    yield* super.read(request);
  }
}

class OneCursorForAll extends ModelSource {
  #next = 0;
  override async *read(request: ReadRequest): AsyncGenerator<ItemBatch> {
    this.#next = 0;
    for (; this.#next < MODEL_KEYS.length; this.#next++) {
      const key = MODEL_KEYS[this.#next]!;
      if (this.isStopped(request)) return;
      if (this.isInRange(key, request)) yield { items: [{ key }] };
      else await Promise.resolve();
    }
  }
}

class LeaksInPlan extends ModelSource {
  override plan(request: { readonly shardCount: number }): ReturnType<ModelSource["plan"]> {
    this.openCount++;
    return super.plan(request);
  }
}

class LeaksInSplit extends ModelSource {
  override splitPoint(request: Parameters<ModelSource["splitPoint"]>[0]): Promise<Uint8Array | undefined> {
    this.openCount++;
    return super.splitPoint(request);
  }
}

class LeaksInClose extends ModelSource {
  override async close(): Promise<void> {
    this.openCount++;
  }
}

class Wordless extends ModelSource {
  override problems(): readonly { readonly key: Uint8Array; readonly reason: string }[] {
    return [{ key: Uint8Array.of(0x61), reason: "" }];
  }
}

class EverywhereTroubled extends ModelSource {
  override async *read(request: ReadRequest): AsyncGenerator<ItemBatch> {
    if (!request.signal.aborted) yield { items: [], problems: [{ key: START, reason: "always" }] };
    yield* super.read(request);
  }
}

class TroubledAgain extends ModelSource {
  override async *read(request: ReadRequest): AsyncGenerator<ItemBatch> {
    const { range, after, signal } = request;
    const key = after === undefined ? Uint8Array.of(...START, 0) : Uint8Array.of(...after, 0);
    const isInRange = compareBytes(key, range.start) >= 0 && compareBytes(START, range.start) >= 0;
    if (!signal.aborted && isInRange) yield { items: [], problems: [{ key, reason: "again" }] };
    yield* super.read(request);
  }
}

class Unshowable extends ModelSource {
  override describeKey(): string {
    return "";
  }
}

class GapInPlan extends ModelSource {
  override async plan(request: { readonly shardCount: number }): ReturnType<ModelSource["plan"]> {
    return ok(unwrap(await super.plan(request)).filter((_, index) => index !== 1));
  }
}

class NoMetadata extends ModelSource {
  override async plan(request: { readonly shardCount: number }): ReturnType<ModelSource["plan"]> {
    const specs = unwrap(await super.plan(request));
    return ok(specs.map((spec) => ({ ...spec, metadata: Uint8Array.of(9, 9) })));
  }
}

/** Estimates with the model's spans changed. */
const estimating = (change: (spans: readonly WorkSpan[]) => readonly WorkSpan[]) =>
  class extends ModelSource {
    override async *estimate(request: EstimateRequest): AsyncGenerator<WorkEstimate> {
      for await (const { spans } of super.estimate(request)) yield { spans: change(spans) };
    }
  };

class LeaksInEstimate extends ModelSource {
  override async *estimate(request: EstimateRequest): AsyncGenerator<WorkEstimate> {
    this.openCount++;
    yield* super.estimate(request);
    this.openCount--;
  }
}

class EndlessEstimate extends ModelSource {
  override async *estimate(): AsyncGenerator<WorkEstimate> {
    for (;;) yield { spans: [] };
  }
}

const row = (value: bigint) => encodeKey(new ManifestRowKey({ manifestId: 0n, row: value }));

/** A manifest whose split points are none of its rows. */
class UnalignedManifest extends ModelSource {
  override async plan(): ReturnType<ModelSource["plan"]> {
    const manifestId = ManifestId.fromRaw(0n);
    return ok([
      unwrap(manifestShard({ manifestId, startRow: ManifestRow.fromRaw(0n), endRow: ManifestRow.fromRaw(9n) })),
    ]);
  }

  override async splitPoint(): Promise<Uint8Array> {
    return Uint8Array.of(...row(4n), 7);
  }
}

const READ = "every item is given once and nothing else, in the order of keys";
const ASCEND = "keys ascend strictly, within a batch and from batch to batch";
const KEYS = "keys have 1 to MAX_KEY_SIZE bytes, and stay as they were given";
const PROBLEMS = "problems lie in the range that is read and say what is wrong";
const NOT_AGAIN = "a reading after a problem reports what comes behind it, and not the problem again";
const RANGE = "a range holds its start and not its end";
const AFTER = "what is at or below `after` is left out, and nothing above it is";
const BOTH = "`after` and the range are both kept to";
const CUT = "any cut of the keyspace gives every item to exactly one part";
const RESUME = "a reading that was broken off goes on after the last key that was used";
const AGAIN = "a second reading gives the same, also at the same time as the first";
const COUNT = "a plan has no more shards than wanted, and at least one";
const TOUCH = "the shards of a plan touch, have both bounds, and can be registered";
const COVER = "a plan covers every item";
const SPLIT = "a split point lies above `after` and strictly inside the range, and a shard can be cut there";
const SHOWN = "every key can be shown to a person";
const SPANS = "an estimate has spans in key order, without overlaps, with item counts that are not negative";
const ESTIMATE_ABORT = "an abort stops an estimate: at most one more comes";
const ESTIMATE_OPEN = "an estimate leaves nothing open, whether it ends or is left early";
const ABORTED = "a reading whose signal has been aborted gives nothing and ends";
const ABORT = "an abort stops a reading: at most what was on its way still comes";
const LEFT = "a reading that is left early leaves nothing open";
const ENDED = "a reading that ends, is aborted or never begins leaves nothing open";
const ADVICE = "a plan and a split point leave nothing open";
const CLOSED = "a source that is closed holds nothing open, and may be closed again";

const BROKEN: readonly { readonly what: string; readonly Source: new () => ModelSource; readonly found: string }[] = [
  { what: "forgets the last item", Source: withKeys((keys) => keys.slice(0, -1)), found: READ },
  { what: "gives an item twice", Source: withKeys((keys) => [keys[0]!, ...keys]), found: ASCEND },
  {
    what: "gives two items in the wrong order",
    Source: withKeys((keys) => [keys[1]!, keys[0]!, ...keys.slice(2)]),
    found: ASCEND,
  },
  { what: "gives an empty key", Source: withKeys((keys) => [new Uint8Array(0), ...keys]), found: KEYS },
  { what: "gives a key that is too long", Source: withKeys((keys) => [...keys.slice(0, -1), TOO_LONG]), found: KEYS },
  { what: "uses one buffer for all keys", Source: reading(oneBuffer), found: KEYS },
  { what: "has a problem and no words for it", Source: Wordless, found: PROBLEMS },
  { what: "has the same problem in every range", Source: EverywhereTroubled, found: PROBLEMS },
  { what: "has the same problem after every key", Source: TroubledAgain, found: NOT_AGAIN },
  {
    what: "leaves out the start of a range",
    Source: inRange((key, request) => right(key, request) && compareBytes(key, request.range.start) !== 0),
    found: RANGE,
  },
  {
    what: "gives the end of a range",
    Source: inRange((key, request) => right(key, request) || compareBytes(key, request.range.end) === 0),
    found: RANGE,
  },
  {
    what: "does not look at the range's end",
    Source: inRange((key, request) => right(key, { ...request, range: { ...request.range, end: new Uint8Array(0) } })),
    found: CUT,
  },
  {
    what: "gives the key that is done",
    Source: inRange(
      (key, request) => right(key, request) || (request.after !== undefined && compareBytes(key, request.after) === 0),
    ),
    found: AFTER,
  },
  {
    what: "passes over one key too many",
    Source: inRange(
      (key, request) =>
        right(key, request) &&
        !(request.after !== undefined && key.length === request.after.length + 1 && key.at(-1) === 0),
    ),
    found: AFTER,
  },
  {
    what: "forgets the range once there is something done",
    Source: inRange((key, request) =>
      right(
        key,
        request.after === undefined
          ? request
          : { ...request, range: { start: new Uint8Array(0), end: request.range.end } },
      ),
    ),
    found: BOTH,
  },
  {
    what: "forgets what is done",
    Source: inRange((key, request) => right(key, { ...request, after: undefined })),
    found: RESUME,
  },
  { what: "can be read once only", Source: OnceOnly, found: AGAIN },
  { what: "mixes up two readings", Source: OneCursorForAll, found: AGAIN },
  {
    what: "plans one shard too many",
    Source: planned((count) => [
      START,
      ...Array.from({ length: count }, (_, index) => Uint8Array.of(0x10 + index)),
      END,
    ]),
    found: COUNT,
  },
  { what: "plans nothing", Source: planned(() => [START]), found: COUNT },
  { what: "plans without an end", Source: planned(() => [START, new Uint8Array(0)]), found: TOUCH },
  { what: "plans from above its first items", Source: planned(() => [Uint8Array.of(0x61), END]), found: COVER },
  { what: "plans with a gap", Source: GapInPlan, found: TOUCH },
  { what: "plans shards with unreadable metadata", Source: NoMetadata, found: TOUCH },
  { what: "splits at what is done", Source: splitAt(({ after, range }) => after ?? range.start), found: SPLIT },
  { what: "splits at the end", Source: splitAt(({ range }) => range.end), found: SPLIT },
  { what: "splits before what is done", Source: splitAt(() => Uint8Array.of(0x00, 0x01)), found: SPLIT },
  { what: "splits a manifest within a row", Source: UnalignedManifest, found: SPLIT },
  { what: "shows keys as nothing", Source: Unshowable, found: SHOWN },
  { what: "estimates in the wrong order", Source: estimating((spans) => spans.toReversed()), found: SPANS },
  {
    what: "estimates the same keys twice",
    Source: estimating((spans) => spans.map((span) => ({ ...span, end: END }))),
    found: SPANS,
  },
  {
    what: "estimates fewer items than none",
    Source: estimating((spans) => spans.map((span) => ({ ...span, items: -1 }))),
    found: SPANS,
  },
  {
    what: "estimates items that are not a number",
    Source: estimating((spans) => spans.map((span) => ({ ...span, items: NaN }))),
    found: SPANS,
  },
  { what: "never ends an estimate", Source: EndlessEstimate, found: ESTIMATE_ABORT },
  { what: "leaves a handle open in an estimate", Source: LeaksInEstimate, found: ESTIMATE_OPEN },
  {
    what: "never asks whether it was aborted",
    Source: reading((source, request) => model(source, { ...request, signal: new AbortController().signal })),
    found: ABORTED,
  },
  { what: "asks once only whether it was aborted", Source: reading(deaf), found: ABORT },
  { what: "leaves a handle open when it is left", Source: reading(leaky), found: LEFT },
  { what: "leaves a handle open when it is aborted", Source: reading(leakyOnAbort), found: ENDED },
  { what: "leaves a handle open in a plan", Source: LeaksInPlan, found: ADVICE },
  { what: "leaves a handle open in a split point", Source: LeaksInSplit, found: ADVICE },
  { what: "leaves a handle open when it is closed", Source: LeaksInClose, found: CLOSED },
];

describe("the kit", () => {
  test.each(BROKEN)("finds a source that $what", async ({ Source, found }) => {
    expect(await failuresOf(() => new Source())).toContain(found);
  });

  test("has no case that none of these sources breaks", () => {
    expect(ALL.map(({ name }) => name).filter((name) => !BROKEN.some(({ found }) => found === name))).toEqual([]);
  });
});
