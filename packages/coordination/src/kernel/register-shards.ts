import {
  RUN_OP_LOG_CAP,
  ShardSpec,
  validateManifest,
  type InitialShardInput,
  type LogicalTime,
  type OpId,
  type RunId,
  type ShardId,
  type TenantId,
} from "@gossip/contracts";
import { coordError, IdempotentOutcome } from "@gossip/coordination-errors";
import { assert, err, ok, unwrap, type Result } from "@gossip/stdx";
import { registerShardsHash } from "../hashing/payload-hash.ts";
import { appendOp } from "../records/op-log.ts";
import { assertRunRecord } from "../records/run-fault.ts";
import type { RunOpLogEntry, RunRecord } from "../records/run-record.ts";
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
 * Checks, in this order: the run exists; the tenant; a repeated operation; the run is initializing; the manifest is
 * valid. The store checks the quota when it writes.
 */
export function registerShards(
  loaded: RunRecord | undefined,
  command: RegisterShardsCommand,
  now: LogicalTime,
): Result<Transition<IdempotentOutcome<RegisterShardsOutcome>, PutRun>, Refusal<"registerShards">> {
  assertInput(loaded, command, now);
  const found = findRun(loaded, command.tenant);
  if (!found.ok) return found;
  const run = found.value;
  const { shards, opId } = command;
  const payloadHash = registerShardsHash(shards);
  const logged = checkRunOpIdempotency(run.opLog, { opId, payloadHash });
  if (!logged.ok) return logged;
  if (logged.value !== undefined) {
    return ok(nothingToDo(IdempotentOutcome.replayed({ run, shards: registeredBy(logged.value) })));
  }
  if (run.status !== "Initializing") {
    return err(coordError("WrongStatus", { status: run.status, target: "Active" }));
  }
  const manifest = validateManifest(shards);
  if (!manifest.ok) return err(coordError("ManifestInvalid", { reason: manifest.error }));

  const at = clampToRecord(now, run);
  const ids = Object.freeze(shards.map((input) => input.shard));
  const entry = { opId, kind: "RegisterShards", payloadHash, executedAt: at } as const;
  const active: RunRecord = {
    ...run,
    status: "Active",
    rootShards: ids,
    opLog: appendOp(run.opLog, { ...entry, result: { kind: "RegisteredShards", shards: ids } }, RUN_OP_LOG_CAP),
    lastTime: at,
  };
  assertRunRecord(active);
  return ok({
    outcome: IdempotentOutcome.executed({ run: active, shards: ids }),
    writes: {
      kind: "PutRun",
      run: active,
      created: shards.map((input) => makeRootShard(run, input, at)),
      noShardsIn: [],
    },
    events: [{ kind: "RunActivated", tenant: run.tenant, run: run.run, at, shardCount: ids.length }],
  });
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
