import type { ShardSpec } from "@gossip/contracts";
import { keySuccessor, rangeShard } from "@gossip/frontier";
import { err, ok, unwrap, type Result } from "@gossip/stdx";
import { SourceReadFailed, type Item, type PlanRequest, type Source, type SourceError } from "@gossip/worker";

/**
 * The first `limit` items of a source, by key.
 *
 * Only the plan differs: it ends right after the last of these items. Items that appear below that key during the run
 * are part of it too.
 */
export function limitedSource<I extends Item>(source: Source<I>, limit: number): Source<I> {
  return {
    name: source.name,
    plan: (request) => planFirst(source, limit, request),
    read: (request) => source.read(request),
    ...(source.splitPoint === undefined ? {} : { splitPoint: (request) => source.splitPoint!(request) }),
    ...(source.describeKey === undefined ? {} : { describeKey: (key) => source.describeKey!(key) }),
    ...(source.close === undefined ? {} : { close: () => source.close!() }),
  };
}

async function planFirst<I extends Item>(
  source: Source<I>,
  limit: number,
  request: PlanRequest,
): Promise<Result<readonly ShardSpec[], SourceError>> {
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
  if (count < limit || after === undefined) return whole;
  return ok(bounds.map((bound, index) => unwrap(rangeShard({ start: bound, end: bounds[index + 1] ?? after }))));
}

async function* itemsOf<I extends Item>(
  source: Source<I>,
  range: { readonly start: Uint8Array; readonly end: Uint8Array },
  signal: AbortSignal | undefined,
): AsyncGenerator<I> {
  for await (const { items } of source.read({ range, signal: signal ?? new AbortController().signal })) yield* items;
}
