import type { Captured } from "../../exec/marked-output.ts";
import { printableText, textField } from "../../output/printable.ts";

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

/** The result of an item. A skipped failure is recorded like a result. */
export type ItemResult = ExecResult | ModuleResult;

/** Thrown to the runtime when a command fails. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
  /** What is recorded if it is not retried. */
  readonly result: ExecResult;
  readonly parkReason = "TooManyErrors";

  /** Its message is kept with the failed item, so it has the last lines that the command wrote to stderr. */
  constructor(result: ExecResult) {
    const complaint = lastLines(result.stderr.bytes, KEPT_LINES);
    super(complaint === "" ? result.failure : `${result.failure}: ${complaint}`);
    this.result = result;
  }
}

/** Some programs explain themselves in their last line, and others add how to get help. */
const KEPT_LINES = 3;
/** A longer text is cut. */
const MAX_SIZE = 400;

/** The last lines of a command's output in one line, for people. */
export function lastLines(bytes: Uint8Array, count: number): string {
  const lines = Buffer.from(bytes).toString("utf8").trim().split("\n").slice(-count);
  const text = lines.map((line) => printableText(line.trim())).join(" | ");
  return text.length > MAX_SIZE ? `${text.slice(0, MAX_SIZE)}…` : text;
}

/** The result to record for an item that failed for good, from what its work threw. */
export function failedResult(cause: unknown): ItemResult {
  if (cause instanceof CommandFailed) return cause.result;
  return { kind: "Module", value: undefined, failure: messageOf(cause) };
}

/** The first line of an error's message. */
export function messageOf(thrown: unknown): string {
  const [line = ""] = String(thrown instanceof Error ? thrown.message : thrown).split("\n");
  return line === "" ? "it failed without a message" : line;
}

/** The line of `--out` for an item, as an object. `fields` identify the item, and are changed. */
export function recordOf(fields: Record<string, unknown>, result: ItemResult): Record<string, unknown> {
  const isOk = result.failure === undefined;
  if (result.kind === "Exec") return { ...fields, ok: isOk, ...execFields(result), ...failureField(result) };
  // Not copied: `fields` are made for this record, and there is one for every item.
  const record = fields;
  record["ok"] = isOk;
  if (result.value !== undefined) record["result"] = result.value;
  if (!isOk) record["error"] = result.failure;
  return record;
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
