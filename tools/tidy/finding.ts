/** Something untidy, and where. */
export interface Finding {
  /** From the root. */
  readonly file: string;
  /** Counted from 1; 0 where it is about the whole file. */
  readonly line: number;
  readonly what: string;
}

export function formatFinding({ file, line, what }: Finding): string {
  return line === 0 ? `${file}: ${what}` : `${file}:${line}: ${what}`;
}
