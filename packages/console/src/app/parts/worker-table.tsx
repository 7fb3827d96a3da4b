import { useApp } from "../app.ts";
import type { RunRow, WorkerRow } from "../data/api-types.ts";
import { formatCount, formatRate, plural } from "../format/numbers.ts";
import { workerTitle } from "../format/titles.ts";
import { Ago, ShardLink } from "./parts.tsx";

/** Shards that a row lists. A worker may hold hundreds. */
const SHOWN_SHARDS = 6;

/** How a run that no one works on goes on. */
export function whatToStart({ shards: { waiting, leased, parked } }: Pick<RunRow, "shards">): string {
  return waiting + leased === 0 && parked > 0
    ? "All shards that are left are parked: unpark them first."
    : "Start the same command again, on this machine or another: it goes on where it was.";
}

export function WorkerTable(props: {
  readonly workers: readonly WorkerRow[];
  readonly run: string;
  /** Without the columns that only the page of all workers has room for. */
  readonly isShort?: boolean;
}) {
  const { workers, run, isShort = false } = props;
  return (
    <div class="table-wrap" tabIndex={0} role="group" aria-label="Workers">
      <table class={isShort ? undefined : "cards"}>
        <thead>
          <tr>
            <th scope="col">Worker</th>
            {!isShort && <th scope="col">Since</th>}
            <th scope="col">Holds</th>
            <th scope="col" class="num">
              Rate
            </th>
            {!isShort && (
              <th scope="col" class="num">
                Items
              </th>
            )}
            <th scope="col">Last seen</th>
          </tr>
        </thead>
        <tbody>
          {workers.map((worker) => (
            <tr key={worker.worker}>
              <th scope="row">
                <span title={worker.worker}>{workerTitle(worker)}</span>
                <div class="muted small">{whereOf(worker)}</div>
              </th>
              {!isShort && (
                <td data-label="Since">{worker.startedAtMs === undefined ? "–" : <Ago atMs={worker.startedAtMs} />}</td>
              )}
              <td data-label="Holds">
                <Holdings worker={worker} run={run} isShort={isShort} />
              </td>
              <td class="num" data-label="Rate">
                {formatRate(worker.perSecond)}
              </td>
              {!isShort && (
                <td class="num" data-label="Items">
                  {worker.items === undefined ? "–" : formatCount(worker.items)}
                </td>
              )}
              <td data-label="Last seen">
                {worker.seenAtMs === undefined ? "–" : <LastSeen atMs={worker.seenAtMs} />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A worker reports itself every few seconds. One that is silent for longer is gone, or cannot reach the store. */
const SILENT_MS = 20_000;

function LastSeen({ atMs }: { readonly atMs: number }) {
  const isSilent = useApp().nowMs.value - atMs > SILENT_MS;
  return (
    <span class={isSilent ? "warn" : undefined}>
      <Ago atMs={atMs} />
      {isSilent && <div class="small">not responding</div>}
    </span>
  );
}

function whereOf({ host, pid, version, isRegistered }: WorkerRow): string {
  const place = [host, pid === undefined ? undefined : `process ${pid}`, version].filter((part) => part !== undefined);
  if (!isRegistered) place.push("not in the registry");
  return place.join(" · ");
}

function Holdings({
  worker,
  run,
  isShort,
}: {
  readonly worker: WorkerRow;
  readonly run: string;
  readonly isShort: boolean;
}) {
  if (worker.shardCount === 0) return <span class="muted">nothing</span>;
  if (isShort) return <>{formatCount(worker.shardCount)}</>;
  const shown = worker.shards.slice(0, SHOWN_SHARDS);
  if (shown.length === 0) return <>{plural(worker.shardCount, "shard")}</>;
  const more = worker.shardCount - shown.length;
  return (
    <span class="holdings">
      {shown.map((shard) => (
        <ShardLink key={shard} run={run} shard={shard} />
      ))}
      {more > 0 && <span class="muted">and {formatCount(more)} more</span>}
    </span>
  );
}
