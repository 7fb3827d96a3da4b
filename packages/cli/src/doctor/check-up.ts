/** What a look at something came to. */
export interface CheckUp {
  readonly what: string;
  readonly verdict: "fine" | "note" | "problem";
  /** What was found; where it is a problem, also what to do. */
  readonly words: string;
}

export function fine(what: string, words: string): CheckUp {
  return { what, verdict: "fine", words };
}

export function note(what: string, words: string): CheckUp {
  return { what, verdict: "note", words };
}

export function problem(what: string, words: string): CheckUp {
  return { what, verdict: "problem", words };
}
