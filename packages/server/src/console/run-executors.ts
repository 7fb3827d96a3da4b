import type { RunId, TenantId } from "@gossip/contracts";
import type { RunRecord } from "@gossip/coordination";
import { isPaged } from "@gossip/coordination/internal";
import { AXIS_BUCKETS, AxisBuckets } from "@gossip/insight";
import { writeId, writeSettings, type RunRowWire } from "@gossip/protocol";
import type { Execute } from "../execute/call.ts";
import { isFailure, type ElementContext, type Failure } from "../execute/element-context.ts";
import type { ConsoleService } from "./console-service.ts";
import { listLeaves } from "./list-leaves.ts";
import { attentionOf, runRowOf } from "./run-figures.ts";
import type { RunView } from "./run-view.ts";
import { shardRowOf } from "./shard-row.ts";
import { consoleOf, nowOf, numberIn, partOf, shownRunOf } from "./shown-run.ts";

type RunName = "whoAmI" | "showRuns" | "showRun" | "showStrip" | "showKeys";

const PAGE_SIZE = 100;
/** Runs that one request looks through, however few match. */
const MAX_EXAMINED = 2000;
/** Runs of one page whose shards are counted. The others have the counts of the store. */
const MAX_COUNTED = 24;
/** So many shards are shown one by one, and more as buckets. */
const MAX_SINGLE = 400;
const MAX_BUCKETS = 1500;
const MAX_POSITIONS = 200;

export const RUN_EXECUTORS: { readonly [Name in RunName]: Execute<Name> } = {
  async whoAmI(context) {
    const service = consoleOf(context);
    if (isFailure(service)) return service;
    const { hideKeys = false, storeName, version = "", retry } = service.options;
    const { role, tenants, onlyTenant } = context.principal;
    const tenant = onlyTenant ?? (await firstTenant(context));
    return {
      ok: {
        role,
        canOperate: context.principal.may("operate"),
        tenants: tenants === undefined ? null : [...tenants],
        ...(tenant === undefined ? {} : { tenant }),
        hideKeys,
        ...(storeName === undefined || tenants !== undefined ? {} : { store: storeName }),
        version,
        nowMs: Number(await nowOf(context)),
        hasRetry: retry !== undefined,
      },
    };
  },

  async showRuns(context, { query }) {
    const service = consoleOf(context);
    if (isFailure(service)) return service;
    const limit = numberIn(query.limit, { standard: 50, max: 200 });
    const text = query.text?.toLowerCase() ?? "";
    const found: RunRecord[] = [];
    let next: string | undefined;
    let examined = 0;
    for await (const record of runsOf(context, query.tenant, query.after)) {
      if (isFailure(record)) return record;
      if (found.length === limit || examined === MAX_EXAMINED) {
        next = `${(found.at(-1) ?? record).tenant}.${writeId((found.at(-1) ?? record).run)}`;
        break;
      }
      examined++;
      if (query.status !== undefined && record.status !== query.status) continue;
      if (text === "" || (await matchesText(service, record, text))) found.push(record);
    }
    let countable = MAX_COUNTED;
    const rows = found.map((record) => {
      const view = service.views.find(record) ?? (countable-- > 0 ? service.views.of(record) : undefined);
      return showRow(service, record, view);
    });
    return { ok: { runs: await Promise.all(rows), ...(next === undefined ? {} : { next }) } };
  },

  async showRun(context, { params, query }) {
    const shown = await shownRunOf(context, params, query.tenant);
    if (isFailure(shown)) return shown;
    const { view, console: service, request } = shown;
    const { run: record, label, counted, keys, axis } = view;
    const row = await runRowOf(service, record, view);
    const settings = await context.coordinator.getRunSettings(request);
    if (!settings.ok) return context.fail(settings.error);
    view.observeSettings(settings.value, Number(await nowOf(context)));
    const { exec, module, out } = label;
    return {
      ok: {
        run: {
          ...row,
          leaseMs: Number(record.config.leaseDuration),
          initialShards: initialShardsOf(view, row),
          ...(exec === undefined ? {} : { exec }),
          ...(module === undefined ? {} : { module }),
          ...(out === undefined ? {} : { out }),
          keyForm: keys.codec ?? "hex",
          settings: writeSettings(settings.value),
          from: { ...keys.key(axis?.start ?? NO_BYTES), position: 0 },
          to: { ...keys.end(axis?.end ?? NO_BYTES), position: 1 },
          ...(counted === undefined ? {} : { countedAtMs: counted.sample.atMs, countTookMs: counted.tookMs }),
          ...(counted?.sample.earliestDeadlineMs === undefined
            ? {}
            : { earliestDeadlineMs: counted.sample.earliestDeadlineMs }),
        },
        attention: await attentionOf(view, row),
      },
    };
  },

  async showStrip(context, { params, query }) {
    const shown = await shownRunOf(context, params, query.tenant);
    if (isFailure(shown)) return shown;
    const { view, console: service, request } = shown;
    const { from, to } = partOf(query);
    const count = numberIn(query.buckets, { standard: 600, max: MAX_BUCKETS });
    const buckets = view.buckets ?? new AxisBuckets();
    const bucketCount = buckets.countIn(from, to);
    // A part of one bucket has fewer shards than the bucket, and nothing but a read shows how many.
    const isTried = bucketCount <= MAX_SINGLE || (to - from) * AXIS_BUCKETS < 1;
    const leaves = isTried ? await listLeaves(context, view, { from, to, max: 2 * MAX_SINGLE }) : undefined;
    const { keys } = view;
    const rows = { keys, now: await nowOf(context), workers: await service.workersOf(request) };
    return {
      ok: {
        from,
        to,
        fromKey: keyAt(view, from),
        toKey: keyAt(view, to),
        atMs: view.counted?.sample.atMs ?? Number(rows.now),
        isCounted: view.counted !== undefined,
        isEstimate: view.counted === undefined && view.buckets !== undefined && leaves === undefined,
        countedShare: view.countedShare,
        shardCount: leaves?.length ?? bucketCount,
        ...(leaves === undefined
          ? { buckets: mutable(buckets.view({ from, to, count })) }
          : { shards: leaves.map((leaf) => stripShardOf(shardRowOf(leaf, rows))) }),
      },
    };
  },

  async showKeys(context, { params, query }) {
    const shown = await shownRunOf(context, params, query.tenant);
    if (isFailure(shown)) return shown;
    const positions = query.positions.split(",").map(Number);
    if (positions.length > MAX_POSITIONS || !positions.every((position) => position >= 0 && position <= 1))
      return context.badField({
        field: "positions",
        expected: `up to ${MAX_POSITIONS} numbers from 0 to 1, with commas`,
      });
    return { ok: { keys: positions.map((position) => keyAt(shown.view, position)) } };
  },
};

const NO_BYTES = new Uint8Array(0);
const ROW_SIZE = 16;

/** A key at a position, in a form that people can read where the codec has one. */
export function bytesAt({ axis, keys }: RunView, position: number): Uint8Array {
  const bytes = axis?.keyAt(position, { isText: keys.codec === "path" }) ?? NO_BYTES;
  if (keys.codec !== "row" || bytes.length === 0) return bytes;
  const row = new Uint8Array(ROW_SIZE);
  row.set(bytes.subarray(0, ROW_SIZE));
  return row;
}

function keyAt(view: RunView, position: number) {
  if (position >= 1) return { ...view.keys.end(view.axis?.end ?? NO_BYTES), position: 1 };
  return { ...view.keys.key(bytesAt(view, position)), position };
}

/** How many shards the run began with. The record of a run that was registered in pages names only those of the last. */
function initialShardsOf({ run, counted }: RunView, { shards }: RunRowWire): number {
  if (counted !== undefined) return counted.sample.initialShards;
  if (!isPaged(run)) return run.rootShards.length;
  return shards.done + shards.leased + shards.waiting + shards.parked + shards.split;
}

function stripShardOf(row: ReturnType<typeof shardRowOf>) {
  const { state } = row;
  return { ...row, state: state === "split" ? "waiting" : state };
}

function mutable<T extends object>(value: T) {
  return value as { -readonly [K in keyof T]: T[K] extends readonly number[] ? number[] : T[K] };
}

async function showRow(service: ConsoleService, record: RunRecord, view: RunView | undefined): Promise<RunRowWire> {
  await view?.fresh();
  return runRowOf(service, record, view);
}

async function matchesText(service: ConsoleService, record: RunRecord, text: string): Promise<boolean> {
  if (writeId(record.run).startsWith(text)) return true;
  const { name, source, exec, module } = await service.labelOf(record);
  return [name, source, exec, module].some((field) => field?.toLowerCase().includes(text) === true);
}

/** The runs of a tenant, or of every tenant that the token may use, after a position. */
async function* runsOf(
  context: ElementContext,
  wanted: string | undefined,
  after: string | undefined,
): AsyncGenerator<RunRecord | Failure, void, void> {
  const [afterTenant = "", afterRun = ""] = after?.split(".") ?? [];
  for await (const tenant of tenantsOf(context, wanted)) {
    if (typeof tenant !== "string") return yield tenant;
    if (tenant < afterTenant) continue;
    let position = tenant === afterTenant && afterRun !== "" ? (BigInt(`0x${afterRun}`) as RunId) : undefined;
    do {
      const page = await context.coordinator.listRuns({ tenant, limit: PAGE_SIZE, after: position });
      if (!page.ok) return yield await context.fail(page.error);
      yield* page.value.items.filter(({ run }) => context.service.ownership?.isOwned(tenant, run) !== false);
      position = page.value.next;
    } while (position !== undefined);
  }
}

async function* tenantsOf(
  context: ElementContext,
  wanted: string | undefined,
): AsyncGenerator<TenantId | Failure, void, void> {
  if (wanted !== undefined) return yield context.tenantFor(wanted as TenantId);
  const { tenants } = context.principal;
  if (tenants !== undefined) return yield* tenants;
  let after: TenantId | undefined;
  do {
    const page = await context.coordinator.listTenants({ limit: PAGE_SIZE, after });
    if (!page.ok) return yield await context.fail(page.error);
    yield* page.value.items;
    after = page.value.next;
  } while (after !== undefined);
}

async function firstTenant(context: ElementContext): Promise<TenantId | undefined> {
  const { tenants } = context.principal;
  if (tenants !== undefined) return tenants[0];
  const page = await context.coordinator.listTenants({ limit: 1 });
  return page.ok ? page.value.items[0] : undefined;
}
