/** Something that breaks a boundary, under the name of the rule that it breaks. */
export interface Problem {
  readonly rule: string;
  /** The file or the package, from the root. */
  readonly where: string;
  readonly why: string;
}

export function formatProblem({ rule, where, why }: Problem): string {
  return `${rule}: ${where}: ${why}`;
}
