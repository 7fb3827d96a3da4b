// Applies every mutant to a copy of its own, runs the tests there, and judges.
import { describeMutant, type Mutant, type Verdict } from "./mutant.ts";
import { runCopies, type CopyOutcome } from "./run-copies.ts";
import { Workspace } from "./workspace.ts";

export interface Judged {
  readonly mutant: Mutant;
  readonly verdict: Verdict;
  /** The test that noticed. */
  readonly noticedBy: string | undefined;
}

/**
 * Judge every mutant of a package.
 *
 * The sources as they are run along: where their own tests fail, nothing is known
 * about any mutant, and this throws.
 */
export function checkMutants(packageName: string, mutants: readonly Mutant[]): Judged[] {
  const workspace = new Workspace(packageName);
  try {
    const tests = [...new Set(mutants.flatMap((mutant) => mutant.tests))];
    workspace.add({ packageName, folder: "unchanged", file: "", tests });
    for (const [index, mutant] of mutants.entries()) {
      const { file, tests: own } = mutant;
      workspace.add({ packageName, folder: folderOf(index), file, tests: own, edit: mutant });
    }
    const outcomes = runCopies(workspace.folder);
    const unchanged = outcomes.get("unchanged");
    if (unchanged === undefined || unchanged.isFailed)
      throw new Error(`the tests fail without any edit: ${unchanged?.failedTest ?? "none ran"}`);
    return mutants.map((mutant, index) => judge(mutant, outcomes.get(folderOf(index))));
  } finally {
    workspace.remove();
  }
}

function judge(mutant: Mutant, outcome: CopyOutcome | undefined): Judged {
  if (outcome === undefined || !outcome.isLoaded) return { mutant, verdict: "broken", noticedBy: undefined };
  if (outcome.isFailed) return { mutant, verdict: "killed", noticedBy: outcome.failedTest };
  // Tests that never came to an end have not passed.
  const isFinished = outcome.fileCount === mutant.tests.length;
  return { mutant, verdict: isFinished ? "survived" : "broken", noticedBy: undefined };
}

function folderOf(index: number): string {
  return `mutant-${index}`;
}

/** One line a target, and one for each mutant that got through. */
export function formatJudged(judged: readonly Judged[]): string {
  const targets = [...new Set(judged.map(({ mutant }) => mutant.target))];
  const lines = targets.map((target) => {
    const own = judged.filter(({ mutant }) => mutant.target === target);
    const killed = own.filter(({ verdict }) => verdict === "killed").length;
    return `  ${target.padEnd(24)} ${killed} of ${own.length} noticed`;
  });
  const through = judged
    .filter(({ verdict }) => verdict !== "killed")
    .map(({ mutant, verdict }) => `  ${verdict.toUpperCase()} ${describeMutant(mutant)}`);
  return [...lines, ...through].join("\n");
}
