// What a mutant is: a small edit that makes a source wrong, and the tests that must notice.

/** One small edit. `find` must occur exactly once in its file, so that a list that has fallen behind the sources is noticed. */
export interface Edit {
  readonly find: string;
  readonly replace: string;
}

/** A function or decoder, where its source is, and the tests that hold it. */
export interface Target {
  readonly name: string;
  /** From the package's `src`. */
  readonly file: string;
  readonly tests: readonly string[];
  readonly edits: readonly Edit[];
}

export interface Mutant extends Edit {
  readonly target: string;
  readonly file: string;
  readonly tests: readonly string[];
}

/** What became of a mutant. A broken one did not load, or its tests never ended: it shows nothing about them. */
export type Verdict = "killed" | "survived" | "broken";

export function mutantsOf(targets: readonly Target[]): Mutant[] {
  return targets.flatMap(({ name, file, tests, edits }) =>
    edits.map((edit) => ({ ...edit, target: name, file, tests })),
  );
}

export function describeMutant({ target, find, replace }: Edit & { readonly target: string }): string {
  return `${target}: ${find.trim()}  ->  ${replace.trim() === "" ? "(nothing)" : replace.trim()}`;
}
