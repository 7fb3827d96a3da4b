import { useEffect, useState } from "preact/hooks";
import { useApp } from "../../app.ts";
import type { RunDetail, ShownKey, Strip } from "../../data/api-types.ts";
import type { Query } from "../../data/call.ts";
import { workerTitle } from "../../format/titles.ts";

/** Asking for every pixel that the pointer passes would be a request for each. */
const DELAY_MS = 120;
/** How wide a part is asked for its holder. */
const AROUND = 1e-6;

type Run = Pick<RunDetail, "run" | "tenant">;

/** The key at a position, a moment after the pointer has stopped there. */
export function useKeyAt({ run, tenant }: Run, position: number | undefined): ShownKey | undefined {
  const query = { tenant, positions: position };
  return useDelayed<{ readonly keys: readonly ShownKey[] }>(`console/runs/${run}/keys`, query, position)?.keys[0];
}

/** The worker that holds the shard at a position, in words. */
export function useHolderAt({ run, tenant }: Run, position: number | undefined): string | undefined {
  const from = Math.max(0, (position ?? 0) - AROUND);
  const query = { tenant, from, to: Math.min(1, from + 2 * AROUND), buckets: 1 };
  const strip = useDelayed<Strip>(`console/runs/${run}/strip`, query, position);
  if (strip === undefined || position === undefined) return undefined;
  const shard = strip.shards?.find((each) => each.from <= position && position < each.to);
  if (shard === undefined) return strip.shards === undefined ? "several shards" : "no shard";
  if (shard.worker === undefined) return "no holder now";
  return `held by ${workerTitle({ worker: shard.worker, name: shard.workerName })}`;
}

function useDelayed<T>(path: string, query: Query, position: number | undefined): T | undefined {
  const { client } = useApp();
  const [found, setFound] = useState<{ readonly at: number; readonly value: T }>();
  useEffect(() => {
    if (position === undefined) return undefined;
    const stopped = new AbortController();
    const timer = setTimeout(async () => {
      const answer = await client.get<T>(path, query, stopped.signal);
      if (answer.ok && !stopped.signal.aborted) setFound({ at: position, value: answer.value });
    }, DELAY_MS);
    return () => {
      clearTimeout(timer);
      stopped.abort();
    };
  }, [path, position]);
  return found !== undefined && found.at === position ? found.value : undefined;
}
