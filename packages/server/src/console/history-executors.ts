import { heatMap, historySeries, leaseTimeline, type LeaseSpan } from "@gossip/insight";
import { decodeBase64Url, encodeBase64Url, writeId } from "@gossip/protocol";
import type { Execute } from "../execute/call.ts";
import { isFailure } from "../execute/element-context.ts";
import { nowOf, numberIn, partOf, shownRunOf } from "./shown-run.ts";

type HistoryName = "showHistory" | "showHeat" | "showTimeline" | "showFailures" | "showWorkers";

const MAX_KEYS = 1500;
const MAX_COLUMNS = 600;
const FOUR_DAYS_MS = 4 * 86_400_000;
const MAX_WORKERS = 500;

export const HISTORY_EXECUTORS: { readonly [Name in HistoryName]: Execute<Name> } = {
  async showHistory(context, { params, query }) {
    const shown = await shownRunOf(context, params, query.tenant);
    if (isFailure(shown)) return shown;
    const { rollups, writer } = await shown.view.history();
    const endMs = endOf(shown.view.run);
    const nowMs = endMs ?? Number(await nowOf(context));
    const seenMs = Math.max(writer?.atMs ?? 0, shown.view.counted?.sample.atMs ?? 0);
    const untilMs = endMs === undefined && seenMs > 0 ? seenMs : undefined;
    const { items, failures, workers, ...rest } = historySeries(rollups, {
      stepMs: Number(query.step ?? "1000"),
      nowMs,
    });
    return {
      ok: {
        ...rest,
        items: [...items],
        failures: [...failures],
        workers: [...workers],
        ...(untilMs === undefined ? {} : { untilMs }),
        ...(writer === undefined ? {} : { writer: writer.writer }),
      },
    };
  },

  async showHeat(context, { params, query }) {
    const shown = await shownRunOf(context, params, query.tenant);
    if (isFailure(shown)) return shown;
    const { rollups } = await shown.view.history();
    const { run: record } = shown.view;
    const toMs = query.toMs === undefined ? (endOf(record) ?? Number(await nowOf(context))) : Number(query.toMs);
    const fromMs =
      query.fromMs === undefined ? Math.max(Number(record.createdAt), toMs - FOUR_DAYS_MS) : Number(query.fromMs);
    const { from, to } = partOf(query);
    const keys = numberIn(query.keys, { standard: 300, max: MAX_KEYS });
    const columns = numberIn(query.columns, { standard: 120, max: MAX_COLUMNS });
    const map = heatMap(rollups, { from, to, fromMs, toMs, keys, columns });
    return { ok: { from, to, keys, columns: [...map.columns], cells: [...map.cells], max: map.max } };
  },

  async showTimeline(context, { params, query }) {
    const shown = await shownRunOf(context, params, query.tenant);
    if (isFailure(shown)) return shown;
    const { leases, isTruncated } = await shown.view.history();
    const toMs = query.toMs === undefined ? Number(await nowOf(context)) + 1 : Number(query.toMs);
    const fromMs = query.fromMs === undefined ? Number(shown.view.run.createdAt) : Number(query.fromMs);
    const workers = await shown.console.workersOf(shown.request);
    const lines = leaseTimeline(leases, { fromMs, toMs }).slice(0, MAX_WORKERS);
    const sinceMs = leases[0]?.atMs;
    // A program that does not register its workers still holds shards.
    const holders = shown.view.counted?.sample.holders;
    return {
      ok: {
        fromMs,
        toMs,
        workers: lines.map(({ worker, spans, marks }) => {
          const entry = workers.get(worker);
          return {
            worker: writeId(worker),
            ...(entry === undefined ? {} : { name: entry.name, host: entry.host }),
            isLive: entry !== undefined || holders?.has(worker) === true,
            spans: spans.map(spanOf),
            marks: marks.map(({ atMs, kind, shard }) => ({ atMs, kind, shard: writeId(shard) })),
          };
        }),
        isTruncated,
        ...(sinceMs === undefined ? {} : { sinceMs }),
      },
    };
  },

  async showFailures(context, { params, query }) {
    const shown = await shownRunOf(context, params, query.tenant);
    if (isFailure(shown)) return shown;
    const after = query.after === undefined ? undefined : decodeBase64Url(query.after);
    if (query.after !== undefined && after === undefined)
      return context.badField({ field: "after", expected: "`next` of the page before" });
    const limit = numberIn(query.limit, { standard: 100, max: 500 });
    const listed = await context.coordinator.listFailures({ ...shown.request, limit, after });
    if (!listed.ok) return context.fail(listed.error);
    const count = await context.coordinator.countFailures(shown.request);
    if (!count.ok) return context.fail(count.error);
    const { keys } = shown.view;
    const { items, next } = listed.value;
    return {
      ok: {
        failures: items.map(({ key, attempts, reason, error, at, shard, worker, workerName }) => ({
          key: keys.key(key),
          attempts,
          reason,
          error: keys.error(error),
          atMs: Number(at),
          shard: writeId(shard),
          worker: writeId(worker),
          ...(workerName === undefined ? {} : { workerName }),
        })),
        count: count.value,
        ...(next === undefined ? {} : { next: encodeBase64Url(next) }),
      },
    };
  },

  async showWorkers(context, { params, query }) {
    const shown = await shownRunOf(context, params, query.tenant);
    if (isFailure(shown)) return shown;
    const registered = await shown.console.workersOf(shown.request);
    const holders = shown.view.counted?.sample.holders ?? new Map();
    const others = [...holders].filter(([worker]) => !registered.has(worker));
    const workers = [
      ...[...registered.values()].map((entry) => ({
        worker: writeId(entry.worker),
        name: entry.name,
        host: entry.host,
        pid: entry.pid,
        version: entry.version,
        startedAtMs: Number(entry.startedAt),
        seenAtMs: Number(entry.at),
        shardCount: entry.shardCount,
        shards: entry.shards.map(writeId),
        items: entry.itemCount,
        ...(entry.itemsPerSecond === undefined ? {} : { perSecond: entry.itemsPerSecond }),
        isRegistered: true,
      })),
      ...others.map(([worker, shardCount]) => ({
        worker: writeId(worker),
        shardCount,
        shards: [],
        isRegistered: false,
      })),
    ];
    const nobodyWorks = shown.view.run.status === "Active" && workers.length === 0;
    return { ok: { workers: workers.slice(0, MAX_WORKERS), nobodyWorks } };
  },
};

/** When a run ended: its history ends there. */
function endOf({ completedAt }: { readonly completedAt: bigint | undefined }): number | undefined {
  return completedAt === undefined ? undefined : Number(completedAt) + 1;
}

function spanOf({ shard, fromMs, toMs, end }: LeaseSpan) {
  return {
    shard: writeId(shard),
    fromMs,
    ...(toMs === undefined ? {} : { toMs }),
    ...(end === undefined ? {} : { end }),
  };
}
