import type { PackageBug } from "./package-bug.ts";

const PORT = {
  package: "coordination-etcd",
  file: "write/update-shards.ts",
  test: "port-differential.etcd.test.ts",
  testName: "write sets of every kind",
} as const;

export const ETCD_BUGS: readonly PackageBug[] = [
  {
    ...PORT,
    name: "a single update does not compare the shard's revision",
    area: "guards",
    find: "compare: [first!.ofShard, first!.ofRun],",
    replace: "compare: [first!.ofRun],",
  },
  {
    ...PORT,
    name: "an update among others does not compare the shard's revision",
    area: "guards",
    find: "compare: [ofShard, ofRun]",
    replace: "compare: [ofRun]",
  },
  {
    ...PORT,
    name: "updates of several runs compare the first run alone",
    area: "batching",
    find: "compare: [ofShard, ofRun]",
    replace: "compare: [ofShard, first!.ofRun]",
  },
  {
    ...PORT,
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
