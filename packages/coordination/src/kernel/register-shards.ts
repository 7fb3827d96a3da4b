import {
  RUN_OP_LOG_CAP,
  ShardSpec,
  validateManifest,
  type InitialShardInput,
  type LogicalTime,
  type ManifestValidationError,
  type OpId,
  type RunId,
  type ShardId,
  type TenantId,
} from "@gossip/contracts";
import { coordError, IdempotentOutcome } from "@gossip/coordination-errors";
import { assert, compareBytes, err, ok, unwrap, type Result } from "@gossip/stdx";
import { registerShardsHash } from "../hashing/payload-hash.ts";
import { appendOp } from "../records/op-log.ts";
import { assertRunRecord } from "../records/run-fault.ts";
import { assertLoggedRun, type RunOpLogEntry, type RunRecord } from "../records/run-record.ts";
import { assertShardRecord } from "../records/shard-fault.ts";
import { newShardRecord, type ShardRecord } from "../records/shard-record.ts";
import { assertInput } from "./assert-input.ts";
import { checkRunOpIdempotency } from "./check-op-idempotency.ts";
import { findRun } from "./find-run.ts";
import { clampToRecord } from "./logical-now.ts";
import { nothingToDo, type PutRun, type Refusal, type Transition } from "./transition.ts";

export interface RegisterShardsCommand {
  readonly tenant: TenantId;
  readonly run: RunId;
  readonly shards: readonly InitialShardInput[];
  readonly opId: OpId;
  /** More pages follow: the shards are stored, and the run stays initializing. *Addition.* */
  readonly more?: boolean;
}

/** What a registration depends on. */
export interface LoadedRegistration {
  readonly run: RunRecord | undefined;
  /** The shard that `lastRegistered` names, if the run has pages already. */
  readonly lastShard?: ShardRecord | undefined;
  /** How many shards the pages before the last one have. */
  readonly earlierCount?: number;
}

/** The outcome of a registration. */
export interface RegisterShardsOutcome {
  readonly run: RunRecord;
  /** In the order of the command. */
  readonly shards: readonly ShardId[];
}

/**
 * Adds the first shards of a run, all of them or none, and makes it active. Possible once per run.
 *
 * A run with more shards than a manifest may have gets them in pages, in the order of their keys: every page but the
 * last with `more`. No operation finds them before the last page has made the run active.
 *
 * Checks, in this order: the run exists; the tenant; a repeated operation; the run is initializing; the manifest is
 * valid; it lies above the pages before it. The store checks the quota, and that the ids are new, when it writes.
 */
export function registerShards(
  registration: LoadedRegistration,
  command: RegisterShardsCommand,
  now: LogicalTime,
): Result<Transition<IdempotentOutcome<RegisterShardsOutcome>, PutRun>, Refusal<"registerShards">> {
  assertInput(registration, command, now);
  const { run: loaded, lastShard, earlierCount = 0 } = registration;
  const found = findRun(loaded, command.tenant);
  if (!found.ok) return found;
  const run = found.value;
  const { shards, opId, more = false } = command;
  const payloadHash = registerShardsHash(shards, { more });
  const logged = checkRunOpIdempotency(run.opLog, { opId, payloadHash });
  if (!logged.ok) return logged;
  if (logged.value !== undefined) {
    const ids = more ? shards.map((input) => input.shard) : registeredBy(logged.value);
    return ok(nothingToDo(IdempotentOutcome.replayed({ run, shards: ids })));
  }
  if (run.status !== "Initializing") {
    return err(coordError("WrongStatus", { status: run.status, target: "Active" }));
  }
  const manifest = validateManifest(shards);
  if (!manifest.ok) return err(coordError("ManifestInvalid", { reason: manifest.error }));
  const sorted = shards.toSorted((a, b) => compareBytes(a.spec.keyRangeStart, b.spec.keyRangeStart));
  const overlap = findOverlap(run, lastShard, sorted[0]!);
  if (overlap !== undefined) return err(coordError("ManifestInvalid", { reason: overlap }));

  const at = clampToRecord(now, run);
  const ids = Object.freeze(shards.map((input) => input.shard));
  // The log keeps of a page what the next one needs: all ids of eight pages would make every read of the run slow.
  const kept = more ? [sorted.at(-1)!.shard] : ids;
  const entry = { opId, kind: "RegisterShards", payloadHash, executedAt: at } as const;
  const after: RunRecord = {
    ...run,
    ...(more ? {} : { status: "Active", rootShards: ids }),
    opLog: appendOp(run.opLog, { ...entry, result: { kind: "RegisteredShards", shards: kept } }, RUN_OP_LOG_CAP),
    lastTime: at,
  };
  assertRunRecord(after);
  const shardCount = earlierCount + ids.length;
  return ok({
    outcome: IdempotentOutcome.executed({ run: after, shards: ids }),
    writes: {
      kind: "PutRun",
      run: after,
      created: shards.map((input) => makeRootShard(run, input, at)),
      noShardsIn: [],
    },
    events: more ? [] : [{ kind: "RunActivated", tenant: run.tenant, run: run.run, at, shardCount }],
  });
}

/** The last shard of the pages that an initializing run has; `undefined` if it has none. */
export function lastRegistered(run: RunRecord): ShardId | undefined {
  const { status, opLog } = assertLoggedRun(run);
  if (status !== "Initializing") return undefined;
  const result = opLog.findLast(({ kind }) => kind === "RegisterShards")?.result;
  return result?.kind === "RegisteredShards" ? result.shards.at(-1) : undefined;
}

/** How the page overlaps those before it, if it does. All of a page lies above its first shard's start. */
function findOverlap(
  run: RunRecord,
  lastShard: ShardRecord | undefined,
  first: InitialShardInput,
): ManifestValidationError | undefined {
  const last = lastRegistered(run);
  if (last === undefined) return undefined;
  assert(lastShard?.shard === last, "a registration is decided with the last shard of the page before it");
  if (compareBytes(lastShard.spec.keyRangeEnd, first.spec.keyRangeStart) <= 0) return undefined;
  return { kind: "OverlappingRanges", shardA: last, shardB: first.shard };
}

function registeredBy(entry: RunOpLogEntry): readonly ShardId[] {
  assert(entry.result.kind === "RegisteredShards", "a logged registration answers with shards");
  return entry.result.shards;
}

function makeRootShard(run: RunRecord, { shard, spec, cursor }: InitialShardInput, at: LogicalTime): ShardRecord {
  const record = newShardRecord({
    tenant: run.tenant,
    key: { run: run.run, shard },
    spec: unwrap(ShardSpec.tryFromRef(spec)),
    cursor,
    cursorSemantics: run.config.cursorSemantics,
    parent: undefined,
    now: at,
  });
  assertShardRecord(record);
  return record;
}
