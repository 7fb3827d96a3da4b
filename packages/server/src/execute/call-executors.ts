import { type InitialShardInput, type RunId, type ShardId, type ShardStatus, type TenantId } from "@gossip/contracts";
import type { ListShardsRequest, RunRecord, ShardPosition } from "@gossip/coordination";
import type { AnyCoordError, IdempotentOutcome } from "@gossip/coordination-errors";
import {
  protocolError,
  readConfig,
  readPosition,
  WireReader,
  writeCapacity,
  writeId,
  writePosition,
  writeProgress,
  writeRun,
  writeShard,
  writeSummary,
  type BodyOf,
  type CallName,
  type QueryOf,
  type ResponseOf,
} from "@gossip/protocol";
import type { Result } from "@gossip/stdx";
import { CLUSTER_TENANT } from "../move/fence-register.ts";
import { SCOPE_EXECUTORS } from "../move/scope-executors.ts";
import { CONSOLE_EXECUTORS } from "../console/console-executors.ts";
import { keyOf, limitOf, runOf, type Execute } from "./call.ts";
import { checkpointMany } from "./checkpoint-many.ts";
import { isFailure, type ElementContext, type Failure } from "./element-context.ts";
import { NOTE_EXECUTORS } from "./note-executors.ts";

const WITH_LOG = { withLog: true } as const;

/** How each call is executed. */
export const CALL_EXECUTORS: { readonly [Name in CallName]: Execute<Name> } = {
  ...NOTE_EXECUTORS,
  ...SCOPE_EXECUTORS,
  ...CONSOLE_EXECUTORS,

  async createRun(context, { body }) {
    const tenant = context.resolveTenant(body.tenant);
    if (isFailure(tenant)) return tenant;
    // A tenant that the token may not use resolves to a placeholder, and a run created there would be lost. Refusing it
    // does not reveal whether the tenant exists.
    if (tenant === context.service.unknownTenant) return context.refuse(protocolError("Forbidden", NOT_YOURS));
    const read = new WireReader();
    const config = readConfig(read, body.config);
    const shards = body.shards?.map((shard, index) => readNewShard(read, shard, `shards.${index}`));
    const opId = body.opId === undefined ? undefined : read.opId(body.opId);
    if ((shards === undefined) !== (opId === undefined)) read.fail("opId", "an op id exactly if shards are sent");
    const checked = read.done({ tenant, run: read.id<RunId>(body.run), config });
    if (!checked.ok) return context.badField(checked.error);
    if (shards === undefined || opId === undefined) {
      const created = await context.coordinator.createRun(checked.value);
      return created.ok ? { ok: { run: writeRun(created.value, WITH_LOG) } } : context.fail(created.error);
    }
    return runOutcome(context, await context.coordinator.createRunWithShards({ ...checked.value, shards, opId }));
  },

  checkpointMany,

  async registerShards(context, { params, body }) {
    const run = runOf(context, params, body.tenant);
    if (isFailure(run)) return run;
    const read = new WireReader();
    const shards = read.done(body.shards.map((shard, index) => readNewShard(read, shard, `shards.${index}`)));
    if (!shards.ok) return context.badField(shards.error);
    const opId = read.opId(body.opId);
    const more = body.more ?? false;
    const registered = await context.coordinator.registerShards({ ...run, shards: shards.value, opId, more });
    if (!registered.ok) return context.fail(registered.error);
    return { ok: { outcome: registered.value.kind, shards: registered.value.value.map(writeId) } };
  },

  async getRun(context, { params, query }) {
    const run = runOf(context, params, query.tenant);
    if (isFailure(run)) return run;
    const found = await context.coordinator.getRun(run);
    if (!found.ok) return context.fail(found.error);
    return { ok: { run: writeRun(found.value, { withLog: query.log === "true" }) } };
  },

  async lookUpRun(context, { params, query }) {
    const run = runOf(context, params, query.tenant);
    if (isFailure(run)) return run;
    const found = await context.coordinator.lookUpRun(run);
    if (!found.ok) return context.fail(found.error);
    if (found.value.kind === "Found") return { ok: { run: writeRun(found.value.record, WITH_LOG) } };
    return { ok: found.value.kind === "Deleted" ? { isDeleted: true } : {} };
  },

  async listRuns(context, { query }) {
    const tenant = context.resolveTenant(query.tenant);
    if (isFailure(tenant)) return tenant;
    const limit = limitOf(context, query.limit);
    if (isFailure(limit)) return limit;
    const after = query.after === undefined ? undefined : new WireReader().id<RunId>(query.after);
    const owners = othersOf(context, tenant);
    if (isFailure(owners)) return owners;
    const listed = await context.coordinator.listRuns({ tenant, ...limit, after });
    if (!listed.ok) return context.fail(listed.error);
    const { items, next } = listed.value;
    const { ownership } = context.service;
    const owned = ownership === undefined ? items : items.filter(({ run }) => ownership.isOwned(tenant, run));
    return {
      ok: {
        runs: owned.map((record) => writeRun(record)),
        ...(next === undefined ? {} : { next: writeId(next) }),
        ...owners,
      },
    };
  },

  async getProgress(context, { params, query }) {
    const run = runOf(context, params, query.tenant);
    if (isFailure(run)) return run;
    const progress = await context.coordinator.getRunProgress(run);
    return progress.ok ? { ok: { progress: writeProgress(progress.value) } } : context.fail(progress.error);
  },

  async getCapacity(context, { params, query }) {
    const run = runOf(context, params, query.tenant);
    if (isFailure(run)) return run;
    const capacity = await context.coordinator.getCapacity(run);
    return capacity.ok ? { ok: { capacity: writeCapacity(capacity.value) } } : context.fail(capacity.error);
  },

  async estimateProgress(context, { params, query }) {
    const run = runOf(context, params, query.tenant);
    if (isFailure(run)) return run;
    const estimate = await context.coordinator.estimateProgress(run);
    return estimate.ok ? { ok: estimate.value } : context.fail(estimate.error);
  },

  async listCandidates(context, { params, query }) {
    const run = runOf(context, params, query.tenant);
    if (isFailure(run)) return run;
    const candidates = await context.coordinator.collectClaimCandidates(run);
    if (!candidates.ok) return context.fail(candidates.error);
    const { shards, earliestDeadline } = candidates.value;
    return {
      ok: {
        shards: shards.map(writeId),
        ...(earliestDeadline === undefined ? {} : { earliestDeadline: earliestDeadline.toString() }),
      },
    };
  },

  async completeRun(context, { params, body }) {
    const run = runOf(context, params, body.tenant);
    if (isFailure(run)) return run;
    const { acceptParked = false, force = false } = body;
    const opId = new WireReader().opId(body.opId);
    return runOutcome(context, await context.coordinator.completeRun({ ...run, opId, acceptParked, force }));
  },

  async failRun(context, { params, body }) {
    const run = runOf(context, params, body.tenant);
    if (isFailure(run)) return run;
    const opId = new WireReader().opId(body.opId);
    return runOutcome(context, await context.coordinator.failRun({ ...run, opId }));
  },

  async cancelRun(context, { params, body }) {
    const run = runOf(context, params, body.tenant);
    if (isFailure(run)) return run;
    const opId = new WireReader().opId(body.opId);
    return runOutcome(context, await context.coordinator.cancelRun({ ...run, opId }));
  },

  async deleteRun(context, { params, query }) {
    const run = runOf(context, params, query.tenant);
    if (isFailure(run)) return run;
    const deleted = await context.coordinator.deleteRun(run);
    return deleted.ok ? { ok: {} } : context.fail(deleted.error);
  },

  async listShards(context, { params, query }) {
    const page = shardPageOf(context, params, query);
    if (isFailure(page)) return page;
    const listed = await context.coordinator.listShards(page);
    if (!listed.ok) return context.fail(listed.error);
    const { items, next } = listed.value;
    return { ok: { shards: items.map(writeSummary), ...nextShards(next) } };
  },

  async listShardRecords(context, { params, query }) {
    const page = shardPageOf(context, params, query);
    if (isFailure(page)) return page;
    const withLog = query.log === "true";
    const listed = await context.coordinator.listShardRecords({ ...page, withLog });
    if (!listed.ok) return context.fail(listed.error);
    const { items, next } = listed.value;
    return { ok: { shards: items.map((record) => writeShard(record, { withLog })), ...nextShards(next) } };
  },

  async getShard(context, { params, query }) {
    const key = keyOf(context, params, query.tenant);
    if (isFailure(key)) return key;
    const found = await context.coordinator.getShard(key);
    if (!found.ok) return context.fail(found.error);
    if (found.value === undefined) return { ok: {} };
    return { ok: { shard: writeShard(found.value, { withLog: query.log === "true" }) } };
  },

  async unpark(context, { params, body }) {
    const key = keyOf(context, params, body.tenant);
    if (isFailure(key)) return key;
    const unparked = await context.coordinator.unpark({ ...key, opId: new WireReader().opId(body.opId) });
    return unparked.ok ? { ok: { outcome: unparked.value.kind } } : context.fail(unparked.error);
  },

  async listTenants(context, { query }) {
    const limit = limitOf(context, query.limit);
    if (isFailure(limit)) return limit;
    const after = query.after as TenantId | undefined;
    const { tenants: own } = context.principal;
    const owners = othersOf(context);
    if (isFailure(owners)) return owners;
    if (own !== undefined) {
      const found = await listOwnTenants(context, own, { after, ...limit });
      return isFailure(found) ? found : { ok: { ...found.ok, ...owners } };
    }
    const listed = await context.coordinator.listTenants({ ...limit, after });
    if (!listed.ok) return context.fail(listed.error);
    const { items, next } = listed.value;
    const { ownership } = context.service;
    const tenants = items.filter((tenant) => tenant !== CLUSTER_TENANT && ownership?.ownsSomeOf(tenant) !== false);
    return { ok: { tenants, ...(next === undefined ? {} : { next }), ...owners } };
  },

  async timestamp(context, { query }) {
    const count = Number(query.count ?? "1");
    if (count < 1) return context.badField({ field: "count", expected: "a number from 1 on" });
    const { timestamps } = context.service;
    const granted = await timestamps?.(count);
    if (granted === undefined)
      return context.refuse(protocolError("NoClock", "this node has no timestamp oracle, or it does not answer"));
    return { ok: { timestamp: granted.toString(), count } };
  },
};

const NOT_YOURS = "the token may not create runs for this tenant";

/** Which other nodes have the rest of a list. */
function othersOf(context: ElementContext, tenant?: TenantId): { readonly otherOwners?: string[] } | Failure {
  const { ownership, unknownTenant } = context.service;
  if (ownership === undefined || tenant === unknownTenant) return {};
  const others = ownership.otherOwners(tenant);
  if (!others.ok) return context.refuse(others.error);
  return others.value.length === 0 ? {} : { otherOwners: [...others.value] };
}

/** Of the tenants that a token is bound to, those that have a run. */
async function listOwnTenants(
  context: ElementContext,
  own: readonly TenantId[],
  { after, limit = 100 }: { readonly after: TenantId | undefined; readonly limit?: number },
): Promise<{ readonly ok: ResponseOf<"listTenants"> } | Failure> {
  const tenants: TenantId[] = [];
  for (const tenant of own) {
    if (after !== undefined && tenant <= after) continue;
    if (tenants.length === limit) return { ok: { tenants, next: tenants.at(-1)! } };
    const listed = await context.coordinator.listRuns({ tenant, limit: 1 });
    if (!listed.ok) return context.fail(listed.error);
    if (listed.value.items.length > 0) tenants.push(tenant);
  }
  return { ok: { tenants } };
}

/** The shards that a query asks for. */
function shardPageOf(
  context: ElementContext,
  params: Readonly<Record<string, string>>,
  query: QueryOf<"listShards">,
): ListShardsRequest | Failure {
  const run = runOf(context, params, query.tenant);
  if (isFailure(run)) return run;
  const limit = limitOf(context, query.limit);
  if (isFailure(limit)) return limit;
  const after = query.after === undefined ? undefined : readPosition(query.after);
  if (query.after !== undefined && after === undefined)
    return context.badField({ field: "after", expected: "`next` of the page before" });
  const filter = {
    ...(query.status === undefined ? {} : { status: query.status as ShardStatus }),
    ...(query.isLeased === undefined ? {} : { isLeased: query.isLeased === "true" }),
    ...(query.rootOnly === undefined ? {} : { rootOnly: query.rootOnly === "true" }),
  };
  return { ...run, ...limit, filter, after };
}

function nextShards(next: ShardPosition | undefined): { readonly next?: string } {
  return next === undefined ? {} : { next: writePosition(next) };
}

function readNewShard(
  read: WireReader,
  { shard, range, cursor }: BodyOf<"registerShards">["shards"][number],
  field: string,
): InitialShardInput {
  return {
    shard: read.id<ShardId>(shard),
    spec: read.range(range, `${field}.range`),
    cursor: read.cursor(cursor, `${field}.cursor`),
  };
}

async function runOutcome(
  context: ElementContext,
  ended: Result<IdempotentOutcome<RunRecord>, AnyCoordError>,
): Promise<{ readonly ok: ResponseOf<"cancelRun"> } | Failure> {
  if (!ended.ok) return context.fail(ended.error);
  return { ok: { run: writeRun(ended.value.value, WITH_LOG), outcome: ended.value.kind } };
}
