import type { RunId, TenantId } from "@gossip/contracts";
import { err, ok, type Result } from "@gossip/stdx";
import { assertObject } from "./assert-object.ts";
import type { CodecError } from "./codec-error.ts";
import { FieldReader } from "./field-reader.ts";
import { assertFieldWriter, FieldWriter } from "./field-writer.ts";
import type { RecordWriter } from "./record-writer.ts";

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

// A scratch buffer: encoding is synchronous, so one is enough.
const scratch = /* @__PURE__ */ new FieldWriter();

export function encodeDeletedRun(mark: DeletedRun): Uint8Array {
  scratch.reset();
  encodeDeletedRunInto(mark, scratch);
  return scratch.toOwned();
}

/** Appends the mark to `out`. */
export function encodeDeletedRunInto(mark: DeletedRun, out: RecordWriter): void {
  assertObject(mark, "deleted run");
  assertFieldWriter(out);
  out.begin("DeletedRun");
  out.tenant(mark.tenant);
  out.u64(mark.run, "run");
  out.seal();
}

export function decodeDeletedRun(bytes: Uint8Array): Result<DeletedRun, CodecError> {
  const fields = new FieldReader(bytes);
  const opened = fields.open("DeletedRun", 0, bytes.length);
  if (!opened.ok) return opened;
  const mark = { tenant: fields.tenant(), run: fields.u64() as RunId };
  const failure = fields.finish();
  return failure === undefined ? ok(mark) : err(failure);
}
