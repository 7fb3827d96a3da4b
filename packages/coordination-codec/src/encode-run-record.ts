import { MAX_INITIAL_SHARDS, RUN_OP_LOG_CAP } from "@gossip/contracts";
import type { RunConfig, RunOpLogEntry, RunRecord } from "@gossip/coordination";
import { assert } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { CONFIG_SEMANTICS, RUN_OP_KIND, RUN_OP_RESULT, RUN_STATUS } from "./enum-field.ts";
import { assertWritable, encodeAlone, type RecordWriter } from "./record-writer.ts";
import { findStoredRunFault } from "./stored-faults.ts";

/** The bytes of a run's record, in the newest version. A record that is not in order is an `InvariantViolation`. */
export function encodeRunRecord(record: RunRecord): Uint8Array {
  const bytes = encodeAlone(record, encodeRunRecordInto);
  const fault = findStoredRunFault(record);
  assert(fault === undefined, () => `run record is not in order: ${fault}`);
  return bytes;
}

/**
 * Write a run's record behind whatever `out` holds.
 *
 * As with `encodeShardRecordInto`, the fields are checked one by one, and not
 * against each other.
 */
export function encodeRunRecordInto(record: RunRecord, out: RecordWriter): void {
  assertWritable(record, "run record", out);
  out.begin("Run");
  out.tenant(record.tenant);
  out.u64(record.run, "run");
  writeConfig(record.config, out);
  out.code(RUN_STATUS, record.status);
  out.u64(record.createdAt, "createdAt");
  out.bool(record.completedAt !== undefined);
  if (record.completedAt !== undefined) out.u64(record.completedAt, "completedAt");
  out.ids(record.rootShards, "rootShards", MAX_INITIAL_SHARDS);
  out.count(record.opLog, "opLog", RUN_OP_LOG_CAP);
  for (let index = 0; index < record.opLog.length; index++) writeEntry(record.opLog[index]!, out);
  out.u64(record.lastTime, "lastTime");
  out.seal();
}

function writeConfig(config: RunConfig, out: RecordWriter): void {
  assertObject(config, "config");
  out.code(CONFIG_SEMANTICS, config.cursorSemantics);
  out.u64(config.leaseDuration, "config.leaseDuration");
  out.bool(config.maxShardRetries !== undefined);
  if (config.maxShardRetries !== undefined) out.u32(config.maxShardRetries, "config.maxShardRetries");
}

function writeEntry(entry: RunOpLogEntry, out: RecordWriter): void {
  assertObject(entry, "opLog entry");
  assertObject(entry.result, "opLog.result");
  out.u64(entry.opId, "opLog.opId");
  out.code(RUN_OP_KIND, entry.kind);
  out.u64(entry.payloadHash, "opLog.payloadHash");
  out.u64(entry.executedAt, "opLog.executedAt");
  out.code(RUN_OP_RESULT, entry.result.kind);
  if (entry.result.kind === "RegisteredShards") out.ids(entry.result.shards, "opLog.result.shards", MAX_INITIAL_SHARDS);
}
