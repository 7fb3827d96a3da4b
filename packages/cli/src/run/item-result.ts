import type { Captured } from "../exec/marked-output.ts";

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
