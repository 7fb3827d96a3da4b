import type { ShardSpec } from "@gossip/contracts";
import { keySuccessor, rangeShard } from "@gossip/frontier";
import { err, ok, unwrap, type Result } from "@gossip/stdx";
import {
  SourceReadFailed,
  type Item,
  type PlanRequest,
  type Source,
  type SourceError,
  type WorkEstimate,
  type WorkSpan,
} from "@gossip/worker";

/**
 * The first `limit` items of a source, by key.
 *
 * Only the plan differs: it ends right after the last of these items. Items that appear below that key during the run
 * are part of it too.
 */
export function limitedSource<I extends Item>(source: Source<I>, limit: number): Source<I> {
  let planned: FirstItems | undefined;
  return {
    name: source.name,
    plan: async (request) => {
      const first = await findFirst(source, limit, request);
      if (!first.ok) return first;
      planned = first.value;
      const { spans, whole } = planned;
      return ok(whole ?? spans.map(({ start, end }) => unwrap(rangeShard({ start, end }))));
    },
    read: (request) => source.read(request),
    /** The plan has counted. A process that joins a run counts again, unless the count is stored with the run. */
    async *estimate({ signal }): AsyncGenerator<WorkEstimate> {
      if (planned === undefined) {
        const first = await findFirst(source, limit, { shardCount: SPANS_TO_COUNT, signal });
        if (first.ok) planned = first.value;
      }
      if (planned !== undefined) yield { spans: planned.spans, isExact: true };
    },
    ...(source.splitPoint === undefined ? {} : { splitPoint: (request) => source.splitPoint!(request) }),
    ...(source.describeKey === undefined ? {} : { describeKey: (key) => source.describeKey!(key) }),
    ...(source.close === undefined ? {} : { close: () => source.close!() }),
  };
}

/** Enough for a display of progress. */
const SPANS_TO_COUNT = 50;

interface FirstItems {
  /** Where the items are: adjacent ranges with about equally many items each. */
  readonly spans: readonly WorkSpan[];
  /** The plan of the source, if it has fewer items than the limit. */
  readonly whole: readonly ShardSpec[] | undefined;
}

async function findFirst<I extends Item>(
  source: Source<I>,
  limit: number,
  request: PlanRequest,
): Promise<Result<FirstItems, SourceError>> {
  const whole = await source.plan(request);
  if (!whole.ok) return whole;
  const start = whole.value[0]!.keyRangeStart;
  const end = whole.value.at(-1)!.keyRangeEnd;
  const bounds = [start];
  // Enough keys to cut the range into as many shards as are wanted, with about equally many items each.
  const stride = Math.ceil(limit / request.shardCount);
  let [count, last]: [number, Uint8Array | undefined] = [0, undefined];
  try {
    for await (const { key } of itemsOf(source, { start, end }, request.signal)) {
      if (count > 0 && count % stride === 0) bounds.push(key);
      last = key;
      if (++count === limit) break;
    }
  } catch (thrown) {
    request.signal?.throwIfAborted();
    if (thrown instanceof SourceReadFailed) return err(thrown.error);
    throw thrown;
  }
  const after = last === undefined ? undefined : keySuccessor(last);
  const isWhole = count < limit || after === undefined;
  const spans = bounds.map((bound, index) => ({
    start: bound,
    end: bounds[index + 1] ?? (isWhole ? end : after),
    items: Math.min(stride, count - index * stride),
  }));
  return ok({ spans, whole: isWhole ? whole.value : undefined });
}

async function* itemsOf<I extends Item>(
  source: Source<I>,
  range: { readonly start: Uint8Array; readonly end: Uint8Array },
  signal: AbortSignal | undefined,
): AsyncGenerator<I> {
  for await (const { items } of source.read({ range, signal: signal ?? new AbortController().signal })) yield* items;
}
