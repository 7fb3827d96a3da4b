import type { ModuleResult } from "../run/results/item-result.ts";

export interface PipeRequest {
  /** Identifies the item among its attempts. */
  readonly item: object;
  /** The fields of the line behind `id`, in JSON, without braces. */
  readonly fields: string;
  readonly signal: AbortSignal;
}

/** An item that a process works on, or will, and its result. */
export class PipeJob {
  /** Identifies it among the items that its process has. */
  id = 0;
  readonly item: object;
  readonly fields: string;
  readonly signal: AbortSignal;
  readonly result: Promise<ModuleResult>;
  resolve!: (result: ModuleResult) => void;
  reject!: (cause: Error) => void;
  /** Send it only to a process that has nothing else: it may be the one that ends processes. */
  isSuspect = false;

  constructor({ item, fields, signal }: PipeRequest) {
    this.item = item;
    this.fields = fields;
    this.signal = signal;
    this.result = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }
}
