import type { Captured } from "../../exec/marked-output.ts";
import { textField } from "../../output/printable.ts";

/** The output and exit status of a command. */
export interface ExecResult {
  readonly kind: "Exec";
  /** The exit status that the shell reports. `undefined` if the command did not finish. */
  readonly status: number | undefined;
  readonly stdout: Captured;
  readonly stderr: Captured;
  /** Why it failed, or `undefined` if it succeeded. */
  readonly failure: string | undefined;
}

/** What a module's function returned or threw. */
export interface ModuleResult {
  readonly kind: "Module";
  readonly value: unknown;
  readonly failure: string | undefined;
}

/** The result of an item. A skipped failure is a result too: it is recorded and counted. */
export type ItemResult = ExecResult | ModuleResult;

export function isFailure(result: ItemResult): boolean {
  return result.failure !== undefined;
}

/** The line of `--out` for an item, as an object. `fields` identify the item. */
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
