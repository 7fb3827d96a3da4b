import { LogicalTime, MAX_INITIAL_SHARDS, RUN_OP_LOG_CAP, type OpId, type RunId } from "@gossip/contracts";
import {
  RunConfig,
  type PayloadHash,
  type RunHead,
  type RunOpLogEntry,
  type RunOpResult,
  type RunRecord,
} from "@gossip/coordination";
import { err, ok, type Result } from "@gossip/stdx";
import type { CodecVersion } from "./blob-kind.ts";
import type { CodecError } from "./codec-error.ts";
import { CONFIG_SEMANTICS, RUN_OP_KIND, RUN_OP_RESULT, RUN_STATUS } from "./enum-field.ts";
import { FieldReader, readShardId, type ListField } from "./field-reader.ts";
import { findStoredRunFault } from "./stored-faults.ts";
import { completeRunV1 } from "./version-1.ts";

const ROOT_SHARDS: ListField = { field: "rootShards", maxCount: MAX_INITIAL_SHARDS, itemSize: 8 };
const OP_LOG: ListField = { field: "opLog", maxCount: RUN_OP_LOG_CAP, itemSize: 26 };
const REGISTERED: ListField = { field: "opLog.result.shards", maxCount: MAX_INITIAL_SHARDS, itemSize: 8 };

const ACK: RunOpResult = /* @__PURE__ */ Object.freeze({ kind: "Ack" });

/** The record that `bytes` hold, of any version that there has been. As `decodeShardRecord`, it never throws for bytes. */
export function decodeRunRecord(bytes: Uint8Array): Result<RunRecord, CodecError> {
  const read = new FieldReader(bytes).blob("Run", readRun);
  if (!read.ok) return read;
  const detail = findStoredRunFault(read.value);
  return detail === undefined ? read : err({ kind: "InvariantViolation", blob: "Run", detail });
}

/**
 * Decodes what an operation on a shard needs of its run, without the run's shards and log.
 *
 * Those are nearly all of a large run, and every acquire needs the head. Header and checksum are checked over the whole
 * blob, so the rest is intact as far as the checksum can show. Version 1 has no checksum and is read to its end.
 */
export function decodeRunHead(bytes: Uint8Array): Result<RunHead, CodecError> {
  const fields = new FieldReader(bytes);
  const opened = fields.open("Run");
  if (!opened.ok) return opened;
  if (opened.value.version === 1) return decodeRunRecord(bytes);
  const head = readHead(fields);
  if (fields.failure !== undefined) return err(fields.failure);
  if (RunConfig.tryNew(head.config).ok) return ok(head);
  return err({ kind: "InvariantViolation", blob: "Run", detail: "the configuration must be valid" });
}

/** Read in the order of the bytes: a literal's fields are evaluated from first to last. */
function readRun(fields: FieldReader, version: CodecVersion): RunRecord {
  const record = {
    ...readHead(fields),
    createdAt: fields.u64() as LogicalTime,
    completedAt: fields.bool("completedAt") ? (fields.u64() as LogicalTime) : undefined,
    rootShards: fields.list(ROOT_SHARDS, readShardId),
    opLog: fields.list(OP_LOG, readEntry),
    lastTime: version === 1 ? LogicalTime.ZERO : (fields.u64() as LogicalTime),
  };
  return version === 1 ? completeRunV1(record) : record;
}

function readHead(fields: FieldReader): RunHead {
  return {
    tenant: fields.tenant(),
    run: fields.u64() as RunId,
    config: readConfig(fields),
    status: fields.name(RUN_STATUS),
  };
}

function readConfig(fields: FieldReader): RunConfig {
  return Object.freeze({
    cursorSemantics: fields.name(CONFIG_SEMANTICS),
    leaseDuration: fields.u64(),
    maxShardRetries: fields.bool("config.maxShardRetries") ? fields.u32() : undefined,
  });
}

function readEntry(fields: FieldReader): RunOpLogEntry {
  return {
    opId: fields.u64() as OpId,
    kind: fields.name(RUN_OP_KIND),
    payloadHash: fields.u64() as PayloadHash,
    executedAt: fields.u64() as LogicalTime,
    result: readResult(fields),
  };
}

function readResult(fields: FieldReader): RunOpResult {
  const kind = fields.name(RUN_OP_RESULT);
  return kind === "Ack" ? ACK : { kind, shards: fields.list(REGISTERED, readShardId) };
}
