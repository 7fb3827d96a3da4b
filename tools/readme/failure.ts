/** An example that does not do what it says. */
export interface Failure {
  /** From the root. */
  readonly file: string;
  readonly line: number;
  readonly what: string;
}

export function formatFailure({ file, line, what }: Failure): string {
  return `${file}:${line}: ${what}`;
}
