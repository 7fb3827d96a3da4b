import { MAX_KEY_SIZE, type RangeInput, type ShardSpec } from "@gossip/contracts";
import { evenSplitPoints, splitPointsFromSamples } from "@gossip/frontier";
import { assert, assertBytes, compareBytes, isBytes, ok, type Result } from "@gossip/stdx";
import type { SourceError } from "../source-error.ts";
import type { Item, ItemBatch, PlanRequest, ReadRequest, Source } from "../source.ts";
import type { EstimateRequest, WorkEstimate } from "../work-estimate.ts";
import { countAhead } from "../count-ahead.ts";
import { assertPlanRequest, shardsBetween } from "../range-shards.ts";
import { isBelowEnd, readBounds } from "../read-bounds.ts";
import { SourceReadFailed } from "../source-read-failed.ts";

/** A value of the caller, with its key. */
export interface KeyedItem<T> extends Item {
  readonly value: T;
}

/** The values to read: those with keys from `from` up to but not including `end`. An empty bound is no bound. */
export interface IterableRequest {
  readonly from: Uint8Array;
  readonly end: Uint8Array;
  readonly signal: AbortSignal;
}

export interface IterableOptions<T> {
  /** A name for users and telemetry. */
  readonly name: string;
  /** Returns the key of a value. Keys must be strictly ascending and must not change during a reading. */
  readonly keyOf: (value: T) => Uint8Array;
  /** Returns the values in key order. Values outside the request are ignored. Give either this or `items`. */
  readonly read?: (request: IterableRequest) => AsyncIterable<T> | Iterable<T>;
  /** Values that can be iterated any number of times, in key order. Give either this or `read`. */
  readonly items?: AsyncIterable<T> | Iterable<T>;
  /**
   * Both bounds of the key space. A key outside is an error. Default: all keys that do not start with 16 bytes `ff`.
   */
  readonly range?: RangeInput;
}

const ITEMS_PER_BATCH = 256;
/** How many keys to read for planning. */
const KEYS_SAMPLED = 10_000;

/** Use any iterable as a source. */
export function iterableSource<T>(options: IterableOptions<T>): Source<KeyedItem<T>> {
  return new IterableSource(options);
}

class IterableSource<T> implements Source<KeyedItem<T>> {
  readonly name: string;
  readonly #keyOf: (value: T) => Uint8Array;
  readonly #read: (request: IterableRequest) => AsyncIterable<T> | Iterable<T>;
  readonly #range: RangeInput;
  /** Whether the values are in memory, so that counting them costs little. */
  readonly #isCountable: boolean;

  constructor(options: IterableOptions<T>) {
    assertOptions(options);
    const { name, keyOf, read, items, range } = options;
    this.name = name;
    this.#keyOf = keyOf;
    this.#read = read ?? (() => items!);
    this.#isCountable = items !== undefined && Symbol.iterator in items;
    this.#range = range ?? { start: Uint8Array.of(0), end: new Uint8Array(16).fill(0xff) };
  }

  /** Plan by the keys if there are few, otherwise by key space from the first key on. */
  async plan(request: PlanRequest): Promise<Result<readonly ShardSpec[], SourceError>> {
    assertPlanRequest(request);
    const { shardCount, signal = new AbortController().signal } = request;
    try {
      const samples = await this.#sample(signal);
      const isAll = samples.length < KEYS_SAMPLED;
      const points = isAll
        ? splitPointsFromSamples(this.#range, samples, shardCount)
        : evenSplitPoints({ start: samples[0]!, end: this.#range.end }, shardCount);
      return ok(shardsBetween(this.#range, points));
    } catch (thrown) {
      if (thrown instanceof SourceReadFailed) return { ok: false, error: thrown.error };
      throw thrown;
    }
  }

  async *read(request: ReadRequest): AsyncGenerator<ItemBatch<KeyedItem<T>>> {
    const bounds = readBounds(request);
    if (bounds === undefined) return;
    const { signal } = request;
    signal.throwIfAborted();
    let items: KeyedItem<T>[] = [];
    let previous: Uint8Array | undefined;
    for await (const value of this.#read({ ...bounds, signal })) {
      signal.throwIfAborted();
      const key = this.#keyOf(value);
      this.#checkKey(key, previous);
      previous = key;
      // `read` does not have to support seeking.
      if (compareBytes(key, bounds.from) < 0) continue;
      if (!isBelowEnd(key, bounds.end)) break;
      if (items.push({ key, value }) < ITEMS_PER_BATCH) continue;
      yield { items };
      items = [];
    }
    if (items.length > 0) yield { items };
  }

  /** Counts values that are in memory. Reading others twice could cost more than the work itself. */
  async *estimate({ signal }: EstimateRequest): AsyncGenerator<WorkEstimate> {
    if (!this.#isCountable) return;
    yield* countAhead({ parts: [this.#range], read: (request) => this.read(request), signal });
  }

  async #sample(signal: AbortSignal): Promise<Uint8Array[]> {
    const keys: Uint8Array[] = [];
    for await (const { items } of this.read({ range: this.#range, signal })) {
      for (const { key } of items) keys.push(key);
      if (keys.length >= KEYS_SAMPLED) break;
    }
    return keys;
  }

  #checkKey(key: Uint8Array, previous: Uint8Array | undefined): void {
    if (!isBytes(key) || key.length === 0 || key.length > MAX_KEY_SIZE) {
      throw invalid(`${this.name} gave a key that is not 1 to ${MAX_KEY_SIZE} bytes`);
    }
    if (previous !== undefined && compareBytes(previous, key) >= 0)
      throw invalid(`${this.name} gave keys that do not ascend`);
    const { start, end } = this.#range;
    if (compareBytes(key, start) < 0 || !isBelowEnd(key, end))
      throw invalid(`${this.name} gave a key outside of its range`);
  }
}

function invalid(reason: string): SourceReadFailed {
  return new SourceReadFailed({ kind: "SourceInvalid", reason });
}

function assertOptions<T>(options: IterableOptions<T>): void {
  assert(
    typeof options === "object" && options !== null,
    () => `iterable source options must be an object, got ${typeof options}`,
  );
  const { name, keyOf, read, items, range } = options;
  assert(typeof name === "string" && name.length > 0, "name must be a text");
  assert(typeof keyOf === "function", "keyOf must be a function");
  assert((read === undefined) !== (items === undefined), "an iterable source needs either read or items");
  assert(read === undefined || typeof read === "function", "read must be a function");
  assert(items === undefined || isIterable(items), "items must be an iterable");
  // The first shard to be read would exhaust an iterator, and every other shard would find nothing.
  assert(
    items === undefined || typeof (items as { next?: unknown }).next !== "function",
    "items can be iterated only once: use read, which creates a new iterator each time",
  );
  if (range === undefined) return;
  assertBytes(range.start, "range start");
  assertBytes(range.end, "range end");
  assert(
    range.start.length > 0 && compareBytes(range.start, range.end) < 0,
    "range must have both bounds, the start below the end",
  );
}

function isIterable(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Symbol.asyncIterator in value || Symbol.iterator in value;
}
