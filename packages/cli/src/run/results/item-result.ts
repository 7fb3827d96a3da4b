import type { Captured } from "../../exec/marked-output.ts";
import { textField } from "../../output/printable.ts";

/** What a command wrote, and how it ended. */
export interface ExecResult {
  readonly kind: "Exec";
  /** As the shell has it; `undefined` where the command did not come to an end. */
  readonly status: number | undefined;
  readonly stdout: Captured;
  readonly stderr: Captured;
  /** Why it counts as failed; `undefined` where it did not. */
  readonly failure: string | undefined;
}

/** What a module's function gave, or threw. */
export interface ModuleResult {
  readonly kind: "Module";
  readonly value: unknown;
  readonly failure: string | undefined;
}

/** What became of an item. A failed one is a result too, where it is passed over: it is recorded and counted. */
export type ItemResult = ExecResult | ModuleResult;

export function isFailure(result: ItemResult): boolean {
  return result.failure !== undefined;
}

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
