import type { ExecResult, ItemResult } from "./item-result.ts";
import { textField } from "./item-text.ts";

/** The line of `--out` for an item, as an object. `fields` say which item. */
export function recordOf(fields: Record<string, unknown>, result: ItemResult): Record<string, unknown> {
  const isOk = result.failure === undefined;
  if (result.kind === "Exec") return { ...fields, ok: isOk, ...execFields(result), ...failureField(result) };
  return {
    ...fields,
    ok: isOk,
    ...(result.value === undefined ? {} : { result: result.value }),
    ...failureField(result),
  };
}

function execFields({ status, stdout, stderr }: ExecResult): Record<string, unknown> {
  const dropped = stdout.droppedSize + stderr.droppedSize;
  return {
    ...(status === undefined ? {} : { status }),
    ...textField("stdout", stdout.bytes),
    ...(stderr.bytes.length === 0 ? {} : textField("stderr", stderr.bytes)),
    ...(dropped === 0 ? {} : { droppedBytes: dropped }),
  };
}

function failureField({ failure }: ItemResult): Record<string, unknown> {
  return failure === undefined ? {} : { error: failure };
}
