import type { PackageBug } from "./package-bug.ts";

const PORT = {
  package: "coordination-lmdb",
  test: "port-differential.test.ts",
  testName: "write sets of every kind",
} as const;
const SPLIT = {
  package: "coordination-lmdb",
  test: "lmdb-store.test.ts",
  testName: "a split is atomic",
} as const;
const GATE = {
  area: "locking",
  package: "coordination-lmdb",
  test: "engine/gate/open-gate.test.ts",
} as const;
const COMMITTER = {
  package: "coordination-lmdb",
  file: "write/committer.ts",
  test: "write/committer.test.ts",
} as const;

export const LMDB_BUGS: readonly PackageBug[] = [
  {
    name: "opening a folder opens and closes the engine's lock file",
    area: "locking",
    package: "coordination-lmdb",
    file: "open/check-folder.ts",
    find: "await access(path, constants.R_OK | constants.W_OK);",
    replace: 'await (await open(path, "r+")).close();',
    test: "open/one-environment.test.ts",
    testName: "a second store is open in the process",
    isUsual: true,
  },
  {
    ...GATE,
    name: "a commit does not wait for a process that opens the store",
    file: "engine/gate/open-gate.ts",
    find: "if (!this.#isOpening()) return true;",
    replace: "return true;",
    testName: "a checkpoint is not made",
    isUsual: true,
  },
  {
    ...GATE,
    name: "an open does not wait for a commit that has begun",
    file: "engine/gate/open-gate.ts",
    find: "if (await this.#becomesQuiet()) return openStore();",
    replace: "return openStore();",
    testName: "an open waits for a commit that has begun",
  },
  {
    ...GATE,
    name: "a commit waits forever for a process that was killed while it opened the store",
    file: "engine/gate/reader-table.ts",
    find: "this.#db.readerCheck(); return this.#active();",
    replace: "return this.#active();",
    testName: "killed while it opened the store",
  },
  {
    ...SPLIT,
    name: "a split does not compare the shard's version",
    area: "guards",
    file: "write/run-writes.ts",
    find: "records.shardVersion(set, after.shard) !== guard || records.runVersion(set) !== runGuard",
    replace: "records.runVersion(set) !== runGuard",
  },
  {
    ...SPLIT,
    name: "a split does not compare the run's version",
    area: "guards",
    file: "write/run-writes.ts",
    find: "records.shardVersion(set, after.shard) !== guard || records.runVersion(set) !== runGuard",
    replace: "records.shardVersion(set, after.shard) !== guard",
  },
  {
    ...PORT,
    name: "an update does not compare the run's version",
    area: "guards",
    file: "write/update-shards.ts",
    find: "rows.ifVersion(runKey(RowKind.RunHead, set), headVersion,",
    replace: "rows.ifVersion(runKey(RowKind.RunHead, set), undefined,",
  },
  {
    ...PORT,
    name: "a run that was removed can be made again",
    area: "guards",
    file: "write/run-writes.ts",
    find: "found !== guard || (found === undefined && records.isDeleted(set))",
    replace: "found !== guard",
    isUsual: true,
  },
  {
    ...PORT,
    name: "updates of a second run in a batch get the answers of others",
    area: "batching",
    file: "write/update-shards.ts",
    find: "// The updates of a run are followed by whether the run was there.\n      next++;",
    replace: "",
    isUsual: true,
  },
  {
    ...PORT,
    name: "an update leaves its old entry in the claim index",
    area: "batching",
    file: "write/update-shards.ts",
    find: "if (oldEntry !== undefined) rows.remove(oldEntry);",
    replace: "",
  },
  {
    ...COMMITTER,
    name: "a write that is still pending is reported as failed",
    area: "unknown outcomes",
    find: "thrown instanceof AbandonedWrite || this.#findFault() !== undefined",
    replace: "this.#findFault() !== undefined",
    testName: "even if the engine has recovered meanwhile",
    isUsual: true,
  },
  {
    ...COMMITTER,
    name: "a write that was rolled back is reported as unknown",
    area: "unknown outcomes",
    find: "thrown instanceof AbandonedWrite || this.#findFault() !== undefined",
    replace: "this.#findFault() === undefined || thrown instanceof AbandonedWrite",
    testName: "has failed if the engine still works",
  },
];
