import type { WorkerId } from "@gossip/contracts";
import { Lease, MAX_NOTE_VALUE_SIZE } from "@gossip/coordination";
import { isRollupName } from "@gossip/coordination/internal";
import {
  decodeBase64Url,
  encodeBase64Url,
  readKey,
  readWorkerInfo,
  WireReader,
  writeFailure,
  writeGrant,
  writeMarker,
  writeParked,
  writeSettings,
  writeWorker,
  type CallName,
} from "@gossip/protocol";
import { idOf, keyOf, limitOf, runOf, type Execute } from "./call.ts";
import { isFailure, type ElementContext, type Failure } from "./element-context.ts";

type NoteName = Extract<
  CallName,
  | "listFailures"
  | "countFailures"
  | "resolveFailures"
  | "listParked"
  | "getParked"
  | "listWorkers"
  | "registerWorker"
  | "unregisterWorker"
  | "putMarker"
  | "getMarker"
  | "getRunSettings"
  | "changeRunSettings"
  | "getRollup"
  | "putRollup"
  | "renewBudget"
  | "returnBudget"
  | "holdRun"
>;

const MAX_COUNT = 1_000_000;

/** The calls about failures, parked shards, workers, markers, settings, budgets and shared documents. */
export const NOTE_EXECUTORS: { readonly [Name in NoteName]: Execute<Name> } = {
  async listFailures(context, { params, query }) {
    const page = pageOf(context, params, query);
    if (isFailure(page)) return page;
    const read = new WireReader();
    const start = read.bytes(query.start, query.start64, "start");
    const end = read.bytes(query.end, query.end64, "end");
    const range = read.done((start ?? end) ? { start: start ?? NO_BYTES, end: end ?? NO_BYTES } : undefined);
    if (!range.ok) return context.badField(range.error);
    const listed = await context.coordinator.listFailures({ ...page, range: range.value });
    if (!listed.ok) return context.fail(listed.error);
    const { items, next } = listed.value;
    return { ok: { failures: items.map(writeFailure), ...nextOf(next) } };
  },

  async countFailures(context, { params, query }) {
    const run = runOf(context, params, query.tenant);
    if (isFailure(run)) return run;
    const limit = limitOf(context, query.limit, MAX_COUNT);
    if (isFailure(limit)) return limit;
    const count = await context.coordinator.countFailures({ ...run, ...limit });
    return count.ok ? { ok: { count: count.value } } : context.fail(count.error);
  },

  async resolveFailures(context, { params, body }) {
    const run = runOf(context, params, body.tenant);
    if (isFailure(run)) return run;
    const read = new WireReader();
    const keys = read.done(body.keys.map((key, index) => readKey(read, key, `keys.${index}.key`) ?? NO_BYTES));
    if (!keys.ok) return context.badField(keys.error);
    const resolved = await context.coordinator.resolveFailures({ ...run, keys: keys.value });
    return resolved.ok ? { ok: {} } : context.fail(resolved.error);
  },

  async listParked(context, { params, query }) {
    const page = pageOf(context, params, query);
    if (isFailure(page)) return page;
    const listed = await context.coordinator.listParkedDetails(page);
    if (!listed.ok) return context.fail(listed.error);
    const { items, next } = listed.value;
    return { ok: { parked: items.map(writeParked), ...nextOf(next) } };
  },

  async getParked(context, { params, query }) {
    const key = keyOf(context, params, query.tenant);
    if (isFailure(key)) return key;
    const parked = await context.coordinator.getParkedDetail(key);
    if (!parked.ok) return context.fail(parked.error);
    return { ok: parked.value === undefined ? {} : { parked: writeParked(parked.value) } };
  },

  async listWorkers(context, { params, query }) {
    const page = pageOf(context, params, query);
    if (isFailure(page)) return page;
    const listed = await context.coordinator.listWorkers(page);
    if (!listed.ok) return context.fail(listed.error);
    const { items, next } = listed.value;
    return { ok: { workers: items.map(writeWorker), ...nextOf(next) } };
  },

  async registerWorker(context, { params, body }) {
    const worker = workerOf(context, params, body.tenant);
    if (isFailure(worker)) return worker;
    const read = new WireReader();
    const ttl = read.u64<bigint>(body.ttlMs, "ttlMs");
    if (ttl === 0n) read.fail("ttlMs", "a number from 1 on");
    const info = read.done(readWorkerInfo(read, body));
    if (!info.ok) return context.badField(info.error);
    const registered = await context.coordinator.registerWorker({ ...worker, info: info.value, ttl });
    return registered.ok ? { ok: {} } : context.fail(registered.error);
  },

  async unregisterWorker(context, { params, query }) {
    const worker = workerOf(context, params, query.tenant);
    if (isFailure(worker)) return worker;
    const removed = await context.coordinator.unregisterWorker(worker);
    return removed.ok ? { ok: {} } : context.fail(removed.error);
  },

  async putMarker(context, { body }) {
    const read = new WireReader();
    const lease = read.lease(body.lease);
    const item = read.done(readKey(read, body, "key"));
    if (!item.ok) return context.badField(item.error);
    const tenant = context.tenantFor(lease.tenant);
    const put = await context.coordinator.putMarker({
      tenant,
      lease: Lease.of({ ...lease, tenant }),
      item: item.value,
    });
    return put.ok ? { ok: {} } : context.fail(put.error);
  },

  async getMarker(context, { params, query }) {
    const key = keyOf(context, params, query.tenant);
    if (isFailure(key)) return key;
    const marker = await context.coordinator.getMarker(key);
    if (!marker.ok) return context.fail(marker.error);
    return { ok: marker.value === undefined ? {} : { marker: writeMarker(marker.value) } };
  },

  async getRunSettings(context, { params, query }) {
    const run = runOf(context, params, query.tenant);
    if (isFailure(run)) return run;
    const settings = await context.coordinator.getRunSettings(run);
    return settings.ok ? { ok: { settings: writeSettings(settings.value) } } : context.fail(settings.error);
  },

  async changeRunSettings(context, { params, body }) {
    const { tenant, ...change } = body;
    const run = runOf(context, params, tenant);
    if (isFailure(run)) return run;
    const settings = await context.coordinator.changeRunSettings({ ...run, change });
    context.service.pausedRuns.forget(run);
    return settings.ok ? { ok: { settings: writeSettings(settings.value) } } : context.fail(settings.error);
  },

  async getRollup(context, { params, query }) {
    const rollup = rollupOf(context, params, query.tenant);
    if (isFailure(rollup)) return rollup;
    const got = await context.coordinator.getRollup(rollup);
    if (!got.ok) return context.fail(got.error);
    return { ok: got.value === undefined ? {} : { value64: encodeBase64Url(got.value) } };
  },

  async putRollup(context, { params, body }) {
    const rollup = rollupOf(context, params, body.tenant);
    if (isFailure(rollup)) return rollup;
    const value = body.value64 === undefined ? undefined : decodeBase64Url(body.value64);
    const isGood = value !== undefined && value.length > 0 && value.length <= MAX_NOTE_VALUE_SIZE;
    if (body.value64 !== undefined && !isGood)
      return context.badField({ field: "value64", expected: `1 to ${MAX_NOTE_VALUE_SIZE} bytes` });
    const put = await context.coordinator.putRollup({ ...rollup, value });
    return put.ok ? { ok: {} } : context.fail(put.error);
  },

  async renewBudget(context, { params, body }) {
    const { tenant, ttlMs, ...claim } = body;
    const worker = workerOf(context, params, tenant);
    if (isFailure(worker)) return worker;
    const read = new WireReader();
    const ttl = read.u64<bigint>(ttlMs, "ttlMs");
    if (ttl === 0n) read.fail("ttlMs", "a number from 1 on");
    const checked = read.done(ttl);
    if (!checked.ok) return context.badField(checked.error);
    const renewed = await context.coordinator.renewBudget({ ...worker, ...claim, ttl });
    if (!renewed.ok) return context.fail(renewed.error);
    const { settings, grant } = renewed.value;
    return { ok: { settings: writeSettings(settings), ...(grant === undefined ? {} : { grant: writeGrant(grant) }) } };
  },

  async returnBudget(context, { params, body }) {
    const worker = workerOf(context, params, body.tenant);
    if (isFailure(worker)) return worker;
    const returned = await context.coordinator.returnBudget({ ...worker, returned: body.returned });
    return returned.ok ? { ok: {} } : context.fail(returned.error);
  },

  async holdRun(context, { params, body }) {
    const run = runOf(context, params, body.tenant);
    if (isFailure(run)) return run;
    const held = await context.coordinator.holdRun({ ...run, ms: body.ms });
    return held.ok ? { ok: {} } : context.fail(held.error);
  },
};

const NO_BYTES = new Uint8Array(0);

function nextOf(next: Uint8Array | undefined): { readonly next?: string } {
  return next === undefined ? {} : { next: encodeBase64Url(next) };
}

function pageOf(
  context: ElementContext,
  params: Readonly<Record<string, string>>,
  { tenant, limit, after }: { readonly tenant?: string; readonly limit?: string; readonly after?: string },
) {
  const run = runOf(context, params, tenant);
  if (isFailure(run)) return run;
  const count = limitOf(context, limit);
  if (isFailure(count)) return count;
  const position = after === undefined ? undefined : decodeBase64Url(after);
  if (after !== undefined && position === undefined)
    return context.badField({ field: "after", expected: "`next` of the page before" });
  return { ...run, ...count, after: position };
}

function rollupOf(context: ElementContext, params: Readonly<Record<string, string>>, tenant: string | undefined) {
  const run = runOf(context, params, tenant);
  if (isFailure(run)) return run;
  const { name } = params;
  if (isRollupName(name)) return { ...run, name };
  return context.badField({ field: "name", expected: "up to 64 lower-case letters, digits and hyphens" });
}

function workerOf(context: ElementContext, params: Readonly<Record<string, string>>, tenant: string | undefined) {
  const run = runOf(context, params, tenant);
  if (isFailure(run)) return run;
  const worker = idOf<WorkerId>(context, params, "worker");
  return isFailure(worker) ? (worker as Failure) : { ...run, worker };
}
