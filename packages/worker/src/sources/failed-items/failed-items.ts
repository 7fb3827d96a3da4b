import type { RangeInput, ShardSpec } from "@gossip/contracts";
import type { CoordinatorApi, ItemFailure, RunRequest } from "@gossip/coordination";
import type { GetRunError } from "@gossip/coordination-errors";
import { keySuccessor, splitPointsFromSamples } from "@gossip/frontier";
import { assert, compareBytes, err, ok, type Result } from "@gossip/stdx";
import type { SourceError } from "../../source/source-error.ts";
import type { Item, ItemBatch, ItemProblem, PlanRequest, ReadRequest, Source } from "../../source/source.ts";
import { assertPlanRequest, shardsBetween } from "../range-shards.ts";
import { isBelowEnd, readBounds } from "../read-bounds.ts";
import { SourceReadFailed } from "../source-read-failed.ts";

export interface FailedItemsOptions<I extends Item> {
  readonly coordinator: CoordinatorApi;
  /** The run whose failed items are wanted. */
  readonly run: RunRequest;
  /** The source of that run. */
  readonly source: Source<I>;
}

const PAGE_SIZE = 256;
/** Items that are looked up in the source at the same time. */
const READS_AT_ONCE = 16;
/** Failures that are looked at for planning. */
const KEYS_SAMPLED = 10_000;
const NO_BOUND = /* @__PURE__ */ new Uint8Array(0);
const EVERYTHING: RangeInput = { start: Uint8Array.of(0), end: new Uint8Array(256).fill(0xff) };

/**
 * The items that a run has on record as failed, in key order, read from the source of that run.
 *
 * A retry is an ordinary run on this source: parallel, resumable, with a ledger of its own. `resolveRetried` then removes
 * the items that succeeded from the ledger of the first run. An item that the source no longer has is reported as a
 * problem.
 */
export function failedItems<I extends Item>(options: FailedItemsOptions<I>): Source<I> {
  assert(typeof options === "object" && options !== null, "failedItems takes an object of options");
  assert(typeof options.coordinator?.listFailures === "function", "coordinator must be a Coordinator");
  assert(typeof options.source?.read === "function", "source must be a Source");
  return new FailedItems(options);
}

class FailedItems<I extends Item> implements Source<I> {
  readonly name: string;
  readonly #options: FailedItemsOptions<I>;

  constructor(options: FailedItemsOptions<I>) {
    this.#options = options;
    this.name = options.source.name;
  }

  async plan(request: PlanRequest): Promise<Result<readonly ShardSpec[], SourceError>> {
    assertPlanRequest(request);
    const samples: Uint8Array[] = [];
    try {
      for await (const { key } of this.#failures(EVERYTHING)) if (samples.push(key) === KEYS_SAMPLED) break;
    } catch (thrown) {
      if (thrown instanceof SourceReadFailed) return err(thrown.error);
      throw thrown;
    }
    return ok(shardsBetween(EVERYTHING, splitPointsFromSamples(EVERYTHING, samples, request.shardCount)));
  }

  async *read(request: ReadRequest): AsyncGenerator<ItemBatch<I>> {
    const bounds = readBounds(request);
    if (bounds === undefined) return;
    const { signal } = request;
    signal.throwIfAborted();
    let keys: Uint8Array[] = [];
    for await (const { key } of this.#failures({ start: bounds.from, end: bounds.end })) {
      signal.throwIfAborted();
      if (keys.push(key) < READS_AT_ONCE) continue;
      yield await this.#lookUp(keys, signal);
      keys = [];
    }
    if (keys.length > 0) yield await this.#lookUp(keys, signal);
  }

  describeKey(key: Uint8Array): string {
    return this.#options.source.describeKey?.(key) ?? Buffer.from(key).toString("hex");
  }

  async *#failures(range: RangeInput): AsyncGenerator<ItemFailure> {
    const { coordinator, run } = this.#options;
    let after: Uint8Array | undefined;
    do {
      const page = await coordinator.listFailures({ ...run, range, after, limit: PAGE_SIZE });
      if (!page.ok) throw new SourceReadFailed(ledgerError(page.error), { cause: page.error });
      yield* page.value.items;
      after = page.value.next;
    } while (after !== undefined);
  }

  async #lookUp(keys: readonly Uint8Array[], signal: AbortSignal): Promise<ItemBatch<I>> {
    const found = await Promise.all(keys.map((key) => this.#find(key, signal)));
    const items: I[] = [];
    const problems: ItemProblem[] = [];
    for (const each of found) {
      if ("reason" in each) problems.push(each);
      else items.push(each.item);
    }
    return { items, problems };
  }

  async #find(key: Uint8Array, signal: AbortSignal): Promise<{ readonly item: I } | ItemProblem> {
    // The keys from this one up to the next possible one. A key of the greatest size has none.
    const end = keySuccessor(key) ?? NO_BOUND;
    for await (const { items, problems = [] } of this.#options.source.read({ range: { start: key, end }, signal })) {
      const item = items.find((each) => compareBytes(each.key, key) === 0);
      if (item !== undefined) return { item };
      const problem = problems.find((each) => compareBytes(each.key, key) === 0);
      if (problem !== undefined) return problem;
      if (items.some((each) => !isBelowEnd(each.key, end))) break;
    }
    return { key, reason: "the source no longer has this item" };
  }
}

function ledgerError(error: GetRunError): SourceError {
  if (error.kind === "BackendError")
    return { kind: "SourceUnreadable", reason: "the failures of the run cannot be read" };
  return { kind: "SourceMissing", reason: "the run whose failures are wanted does not exist" };
}
