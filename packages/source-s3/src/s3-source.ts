import type { ShardSpec } from "@gossip/contracts";
import { prefixSuccessor } from "@gossip/frontier";
import { err, ok, type Result } from "@gossip/stdx";
import {
  assertPlanRequest,
  readBounds,
  shardsBetween,
  SourceReadFailed,
  type EstimateRequest,
  type ItemBatch,
  type PlanRequest,
  type ReadBounds,
  type ReadRequest,
  type Source,
  type SourceError,
  type SplitRequest,
  type WorkEstimate,
} from "@gossip/worker";
import type { ListedObject } from "./client/parse-listing.ts";
import type { S3Client } from "./client/s3-client.ts";
import { keyBytes } from "./listing/key-text.ts";
import { listRange } from "./listing/list-range.ts";
import { evenPoints, surveyKeys, type KeySample, type SurveyedSpan } from "./listing/survey.ts";
import { readFailureFrom, sourceErrorFrom } from "./s3-failure.ts";
import type { S3Item } from "./s3-item.ts";
import { assertOptions, makeClient, type S3SourceOptions } from "./s3-options.ts";
import { checkLocation } from "./s3-url.ts";

/** No key is below the first or above the second: UTF-8 has no byte above 0xf4. */
const EVERY_KEY = { start: Uint8Array.of(0x00), end: Uint8Array.of(0xff) };
/** Spans for each shard of a plan: the more, the more alike the shards are. */
const SPANS_PER_SHARD = 4;
const MAX_SPANS_OF_PLAN = 2_048;
const SPANS_OF_ESTIMATE = 256;
/** Spans that are compared to find the middle of a range. */
const SPANS_OF_SPLIT = 24;

/** The objects below a prefix as a source. Its creator closes it: `close()`, or `await using`. */
export interface S3Source extends Source<S3Item>, AsyncDisposable {
  close(): Promise<void>;
}

/**
 * The objects of a bucket whose keys begin with a prefix, in the order of their UTF-8.
 *
 * Every range is listed for itself, beginning at its first key, so the workers list one flat prefix in parallel. An
 * object that is added during a run is an item if its key is above what its range has been listed to; one that is
 * deleted is an item if it was listed before.
 */
export function s3Source(options: S3SourceOptions): S3Source {
  assertOptions(options);
  return new Objects(options);
}

class Objects implements S3Source {
  readonly name = "s3";
  readonly #options: S3SourceOptions;
  readonly #prefix: string;
  #client: Promise<S3Client> | undefined;
  #isClosed = false;

  constructor(options: S3SourceOptions) {
    this.#options = options;
    this.#prefix = options.prefix ?? "";
  }

  async plan(request: PlanRequest): Promise<Result<readonly ShardSpec[], SourceError>> {
    assertPlanRequest(request);
    const { shardCount, signal = new AbortController().signal } = request;
    try {
      const range = this.#range();
      if (shardCount === 1) return ok(shardsBetween(range, []));
      const spanCount = Math.min(SPANS_PER_SHARD * shardCount, MAX_SPANS_OF_PLAN);
      const spans = await this.#survey({ from: range.start, end: range.end }, spanCount, signal);
      return ok(shardsBetween(range, evenPoints(spans, shardCount)));
    } catch (thrown) {
      signal.throwIfAborted();
      return err(sourceErrorFrom(thrown));
    }
  }

  async *read(request: ReadRequest): AsyncGenerator<ItemBatch<S3Item>> {
    const bounds = readBounds(request);
    if (bounds === undefined) return;
    const { signal } = request;
    try {
      signal.throwIfAborted();
      const client = await this.#open();
      for await (const objects of listRange(client, { prefix: this.#prefix, bounds }, signal))
        yield { items: objects.map((object) => this.#itemOf(client, object)) };
    } catch (thrown) {
      signal.throwIfAborted();
      throw readFailureFrom(thrown);
    }
  }

  /** Found by listing, as a plan is: what was read so far does not show where the other keys are. */
  async splitPoint({ range, after }: SplitRequest): Promise<Uint8Array | undefined> {
    const bounds = readBounds({ range, after });
    if (bounds === undefined) return undefined;
    const end = bounds.end.length === 0 ? EVERY_KEY.end : bounds.end;
    const { signal } = new AbortController();
    const [point] = evenPoints(await this.#survey({ from: bounds.from, end }, SPANS_OF_SPLIT, signal), 2);
    return point;
  }

  /** What a few hundred samples can count. Of larger prefixes they show how the keys are spread, not how many there are. */
  async *estimate({ signal }: EstimateRequest): AsyncGenerator<WorkEstimate> {
    const { start, end } = this.#range();
    const spans = await this.#survey({ from: start, end }, SPANS_OF_ESTIMATE, signal);
    yield {
      spans: spans
        .filter(({ isExact }) => isExact)
        .map((span) => ({ start: span.start, end: span.end, items: span.items })),
      isExact: true,
    };
  }

  describeKey(key: Uint8Array): string {
    return `s3://${this.#options.bucket}/${new TextDecoder().decode(key)}`;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    (await this.#client?.catch(() => undefined))?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Where the keys of the prefix are. */
  #range(): { readonly start: Uint8Array; readonly end: Uint8Array } {
    const start = keyBytes(this.#prefix);
    return start.length === 0 ? EVERY_KEY : { start, end: prefixSuccessor(start) ?? EVERY_KEY.end };
  }

  async #survey(bounds: ReadBounds, spanCount: number, signal: AbortSignal): Promise<readonly SurveyedSpan[]> {
    const client = await this.#open();
    const take = async (part: ReadBounds, limit: number): Promise<KeySample> => {
      const keys: Uint8Array[] = [];
      const listing = { prefix: this.#prefix, bounds: part, maxKeys: limit };
      for await (const objects of listRange(client, listing, signal)) {
        keys.push(...objects.map(({ key }) => keyBytes(key)));
        if (keys.length >= limit) return { keys, isAll: false };
      }
      return { keys, isAll: true };
    };
    return surveyKeys({ bounds, spanCount, take });
  }

  async #open(): Promise<S3Client> {
    if (this.#isClosed) throw new SourceReadFailed({ kind: "SourceUnreadable", reason: "the source is closed" });
    const location = checkLocation({ bucket: this.#options.bucket, prefix: this.#prefix });
    if (!location.ok) throw new SourceReadFailed(location.error);
    // Made once, and again after a failure: a profile can be corrected.
    this.#client ??= makeClient(this.#options).catch((thrown: unknown) => {
      this.#client = undefined;
      throw thrown;
    });
    return this.#client;
  }

  #itemOf(client: S3Client, { key, size, etag, modified }: ListedObject): S3Item {
    const { bucket } = this.#options;
    return {
      key: keyBytes(key),
      bucket,
      name: key,
      url: `s3://${bucket}/${key}`,
      size,
      etag,
      modified,
      read: (signal = new AbortController().signal) =>
        client.read(key, signal).catch((thrown: unknown) => {
          signal.throwIfAborted();
          throw readFailureFrom(thrown);
        }),
    };
  }
}
