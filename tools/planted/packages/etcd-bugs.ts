import type { PackageBug } from "./package-bug.ts";

const UPDATES = {
  package: "coordination-etcd",
  file: "write/update-shards.ts",
  test: "write/update-shards.etcd.test.ts",
} as const;

export const ETCD_BUGS: readonly PackageBug[] = [
  {
    ...UPDATES,
    testName: "a single one is refused",
    name: "a single update does not compare the shard's revision",
    area: "guards",
    find: "compare: [first!.ofShard, first!.ofRun],",
    replace: "compare: [first!.ofRun],",
  },
  {
    ...UPDATES,
    testName: "an outdated shard refuses its own update alone",
    name: "an update among others does not compare the shard's revision",
    area: "guards",
    find: "compare: [update.ofShard, update.ofRun]",
    replace: "compare: [update.ofRun]",
  },
  {
    ...UPDATES,
    testName: "an outdated run refuses its own updates alone",
    name: "updates of several runs compare the first run alone",
    area: "batching",
    find: "compare: [update.ofShard, update.ofRun]",
    replace: "compare: [update.ofShard, first!.ofRun]",
  },
  {
    ...UPDATES,
    testName: "an outdated shard refuses its own update alone",
    name: "a refused update in a batch is reported as made",
    area: "batching",
    find: 'result?.kind === "Txn" && result.succeeded',
    replace: 'result?.kind === "Txn"',
  },
  {
    name: "a write whose answer was lost is reported as failed",
    area: "unknown outcomes",
    package: "coordination-etcd",
    file: "cluster/etcd-failure.ts",
    find: 'thrown instanceof EtcdFailure && thrown.mayBeDone ? "Unknown" : "Failed"',
    replace: '"Failed"',
    test: "write/unknown-outcome.etcd.test.ts",
    testName: "to an update leaves it unknown",
    isUsual: true,
  },
];
