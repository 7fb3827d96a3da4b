// The shape of a comparison, and the list that a bench file fills while it loads.

/** One way to do the thing. Receives the number of the call; what it returns is kept alive. */
export type Form = (call: number) => unknown;

/** What a comparison promises. A bound that is missed by more than the noise fails the run. */
export type Bound =
  | { readonly form: string; readonly ratioAtMost: number; readonly toBestOf: readonly string[] }
  | { readonly form: string; readonly heapBytesAtMost: number }
  | { readonly form: string; readonly perSecondAtLeast: number };

export interface Comparison {
  readonly forms: Readonly<Record<string, Form>>;
  readonly bounds?: readonly Bound[];
  readonly options?: {
    /** How often every form is sampled. */
    readonly rounds?: number;
    /** How long one sample should last. */
    readonly sampleMs?: number;
    /** How long a form runs before each sample. For forms that get quicker for a while after another one ran. */
    readonly settleMs?: number;
    /** How long every form runs at least before it is measured. One that still gets quicker then runs on, up to five times as long. */
    readonly warmMs?: number;
    /** How many calls of the thing measured one call of a form stands for. */
    readonly callsPerRun?: number;
    readonly measureHeap?: boolean;
  };
  /** Makes ready what one call of a form uses up, right before it and without being timed. */
  readonly prepare?: (form: string, call: number) => Promise<void>;
  readonly before?: () => void | Promise<void>;
  readonly after?: () => void | Promise<void>;
}

export interface NamedComparison extends Comparison {
  readonly name: string;
}

const registered: NamedComparison[] = [];

/** Add a comparison to the file that is being loaded. */
export function compare(name: string, comparison: Comparison): void {
  for (const bound of comparison.bounds ?? []) {
    const named = "toBestOf" in bound ? [bound.form, ...bound.toBestOf] : [bound.form];
    for (const form of named)
      if (!(form in comparison.forms)) throw new Error(`${name}: a bound names the form "${form}", which is not there`);
  }
  registered.push({ name, ...comparison });
}

/** The comparisons registered so far, in order. */
export function comparisons(): readonly NamedComparison[] {
  return registered;
}
