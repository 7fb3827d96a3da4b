import type { RunId, TenantId } from "@gossip/contracts";
import type { Result } from "@gossip/stdx";
import type { CodecError } from "./codec-error.ts";
import { FieldReader } from "./field-reader.ts";
import { assertWritable, encodeAlone, type RecordWriter } from "./record-writer.ts";

/**
 * What is kept of a deleted run: that its id was used.
 *
 * A store keeps it under the key of the run. If the id were free again, fences would start over, and a worker of the
 * deleted run could pass for one of the new run.
 */
export interface DeletedRun {
  readonly tenant: TenantId;
  readonly run: RunId;
}

export function encodeDeletedRun(mark: DeletedRun): Uint8Array {
  return encodeAlone(mark, encodeDeletedRunInto);
}

/** Appends the mark to `out`. */
export function encodeDeletedRunInto(mark: DeletedRun, out: RecordWriter): void {
  assertWritable(mark, "deleted run", out);
  out.begin("DeletedRun");
  out.tenant(mark.tenant);
  out.u64(mark.run, "run");
  out.seal();
}

export function decodeDeletedRun(bytes: Uint8Array): Result<DeletedRun, CodecError> {
  return new FieldReader(bytes).blob("DeletedRun", readMark);
}

function readMark(fields: FieldReader): DeletedRun {
  return { tenant: fields.tenant(), run: fields.u64() as RunId };
}
