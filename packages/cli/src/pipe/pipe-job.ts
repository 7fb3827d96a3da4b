import { LateResult } from "@gossip/worker";
import type { ModuleResult } from "../run/results/item-result.ts";

export interface PipeRequest {
  /** Identifies the item among its attempts. */
  readonly item: object;
  /** The fields of the line behind `id`, in JSON, without braces. */
  readonly fields: string;
  readonly signal: AbortSignal;
}

/** An item that a process works on, or will, and its result. */
export class PipeJob extends LateResult<ModuleResult> {
  readonly id: number;
  readonly item: object;
  /** The item as a line for a process. */
  readonly line: string;
  readonly signal: AbortSignal;
  /** Send it only to a process that has nothing else: it may be the one that ends processes. */
  isSuspect: boolean;

  constructor(id: number, { item, fields, signal }: PipeRequest) {
    super();
    this.id = id;
    this.item = item;
    this.line = `{"id":${id},${fields}}\n`;
    this.signal = signal;
    this.isSuspect = false;
  }
}
