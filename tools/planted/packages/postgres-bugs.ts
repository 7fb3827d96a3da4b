import type { PackageBug } from "./package-bug.ts";

const KIT = { package: "coordination-postgres", test: "postgres-store.postgres.test.ts" } as const;
const COMMITTER = {
  package: "coordination-postgres",
  file: "write/committer.ts",
  test: "write/unknown-outcome.postgres.test.ts",
} as const;

export const POSTGRES_BUGS: readonly PackageBug[] = [
  {
    name: "the number of all shards is changed without its lock",
    area: "locking",
    package: "coordination-postgres",
    file: "sql/locks.ts",
    find: "totals FOR UPDATE",
    replace: "totals",
    test: "write/new-shards.postgres.test.ts",
    testName: "of two registrations in flight",
  },
  {
    ...KIT,
    name: "an update does not compare the shard's version",
    area: "guards",
    file: "sql/update-shards.ts",
    find: "FROM (${inputOfRun(ARRAYS, COLUMNS)}) i\n  WHERE s.run_id = i.run_id AND s.shard = i.shard AND s.version = i.guard${guard}",
    replace: "FROM (${inputOfRun(ARRAYS, COLUMNS)}) i\n  WHERE s.run_id = i.run_id AND s.shard = i.shard${guard}",
  },
  {
    ...KIT,
    name: "a split does not compare the shard's version",
    area: "guards",
    file: "write/run-writes.ts",
    find: "row === undefined || Number(row.version) !== guard.version",
    replace: "row === undefined",
  },
  {
    ...KIT,
    name: "the second update of a batch gets the answer of the first",
    area: "batching",
    file: "write/candidate.ts",
    find: "return (index) => ordinals.has(index + 1);",
    replace: "return (index) => ordinals.has(index * 0 + 1);",
  },
  {
    ...COMMITTER,
    name: "an update whose answer was lost is reported as failed",
    area: "unknown outcomes",
    find: "return thrown instanceof NoConnection || isUndone(thrown);",
    replace: "return true;",
    testName: "an update whose answer is lost",
    isUsual: true,
  },
  {
    ...COMMITTER,
    name: "a commit that got no answer is reported as failed",
    area: "unknown outcomes",
    find: "return !(thrown instanceof UnknownOutcome);",
    replace: "return true;",
    testName: "a transaction whose commit gets no answer",
  },
];
