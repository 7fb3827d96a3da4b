// Plants bugs in copies of their packages and runs the tests that must catch them, on real engines.
import { runCopies, type CopyOutcome } from "../../mutate/run-copies.ts";
import { Workspace } from "../../mutate/workspace.ts";
import { ETCD_BUGS } from "./etcd-bugs.ts";
import { LMDB_BUGS } from "./lmdb-bugs.ts";
import type { PackageBug } from "./package-bug.ts";
import { POSTGRES_BUGS } from "./postgres-bugs.ts";
import { WORKER_BUGS } from "./worker-bugs.ts";

export const PACKAGE_BUGS: readonly PackageBug[] = [...LMDB_BUGS, ...POSTGRES_BUGS, ...ETCD_BUGS, ...WORKER_BUGS];

export interface PackageVerdict {
  readonly bug: PackageBug;
  /** The test that failed; `undefined` if the bug survived, or nothing is known of it. */
  readonly caughtBy: string | undefined;
  readonly problem: string | undefined;
}

/** Judge each bug, beside a clean copy of the same package in which the same tests must pass. */
export function judgePackageBugs(bugs: readonly PackageBug[]): PackageVerdict[] {
  const workspace = new Workspace("planted");
  const testNames: Record<string, readonly string[]> = {};
  try {
    for (const name of new Set(bugs.map((bug) => bug.package))) {
      const own = bugs.filter((bug) => bug.package === name);
      workspace.add({
        packageName: name,
        folder: cleanFolder(name),
        file: "",
        tests: [...new Set(own.map(({ test }) => test))],
      });
      // One that needs all tests of its file needs them to pass in the clean copy, too.
      if (own.every(({ testName }) => testName !== undefined))
        testNames[cleanFolder(name)] = own.map(({ testName }) => testName!);
    }
    for (const [index, bug] of bugs.entries()) {
      const { package: packageName, file, test, testName } = bug;
      workspace.add({ packageName, folder: folderOf(index), file, tests: [test], edit: bug });
      if (testName !== undefined) testNames[folderOf(index)] = [testName];
    }
    const outcomes = runCopies(workspace.folder, { isolate: true, testNames });
    return bugs.map((bug, index) => judge(bug, outcomes.get(folderOf(index)), outcomes.get(cleanFolder(bug.package))));
  } finally {
    workspace.remove();
  }
}

function judge(bug: PackageBug, outcome: CopyOutcome | undefined, clean: CopyOutcome | undefined): PackageVerdict {
  const caughtBy = outcome?.failedTest;
  return { bug, caughtBy, problem: problemOf(bug, outcome, clean) };
}

function problemOf(
  { name, package: packageName, test }: PackageBug,
  outcome: CopyOutcome | undefined,
  clean: CopyOutcome | undefined,
): string | undefined {
  if (clean === undefined || clean.isFailed || clean.ranCount === 0)
    return `a clean copy of ${packageName} fails its tests: ${clean?.failedTest ?? "none ran"}`;
  if (outcome === undefined || !outcome.isLoaded) return `"${name}" does not load, or its test never ended`;
  if (outcome.ranCount === 0) return `no test of ${test} looked for "${name}"`;
  return outcome.failedTest === undefined ? `"${name}" survives ${packageName}/${test}` : undefined;
}

function folderOf(index: number): string {
  return `bug-${index}`;
}

function cleanFolder(packageName: string): string {
  return `clean-${packageName}`;
}
