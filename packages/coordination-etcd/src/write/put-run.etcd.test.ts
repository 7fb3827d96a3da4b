// A run is looked at first and written after. What others do in between must be found by the write itself: a run that ends over a shard that
// has just become active, or a quota that two have read before either has used it, is what conditions are for. So something comes in between here.

import {
  Cursor,
  LogicalTime,
  OpId,
  RunId,
  ShardId,
  ShardSpec,
  TenantId,
  WorkerId,
  type ShardStatus,
} from "@gossip/contracts";
import {
  newRunRecord,
  newShardRecord,
  type PutRunSet,
  type ShardRecord,
  type UpdateShardSet,
} from "@gossip/coordination";
import { EtcdClient } from "@gossip/etcd-client";
import { assert, unwrap } from "@gossip/stdx";
import { etcdSkipped } from "@gossip/tools/engines";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Cluster } from "../cluster/cluster.ts";
import type { EtcdStore } from "../etcd-store.ts";
import { Layout } from "../layout/layout.ts";
import { putRun } from "./put-run.ts";
import { makeStore, startTestEtcd, type TestServer } from "../temporary-store.fixture.ts";

const skipped = etcdSkipped();
const TENANT = TenantId.fromBytes(new Uint8Array(32).fill(7));
const RUN = RunId.fromRaw(1n);
const now = LogicalTime.fromRaw(5n);
const config = { cursorSemantics: "Completed", leaseDuration: 100n, maxShardRetries: undefined } as const;

let server: TestServer;
let client: EtcdClient;
let store: EtcdStore;
let layout: Layout;
beforeAll(async () => {
  if (skipped !== undefined) return;
  server = await startTestEtcd();
  client = new EtcdClient({ endpoints: [server.endpoint] });
});
afterAll(async () => {
  client?.close();
  await server?.dispose();
});
beforeEach(async (context) => {
  if (skipped !== undefined) return;
  const temporary = await makeStore(server);
  ({ store } = temporary);
  layout = new Layout(`${temporary.prefix}/`);
  context.onTestFinished(() => temporary.dispose());
});

function makeShard(run: RunId, status: ShardStatus): ShardRecord {
  const spec = ShardSpec.withRange({ start: Uint8Array.of(1), end: Uint8Array.of(9) });
  const record = newShardRecord({
    tenant: TENANT,
    key: { run, shard: ShardId.fromRaw(1n) },
    spec,
    cursor: Cursor.initial(),
    cursorSemantics: "Completed",
    parent: undefined,
    now,
  });
  return { ...record, status, parkReason: status === "Parked" ? "Other" : undefined };
}

function makePut(fields: Partial<PutRunSet> & { readonly run?: RunId }): PutRunSet {
  const { run = RUN } = fields;
  const after = {
    ...newRunRecord({ tenant: TENANT, run, config, now }),
    status: "Active",
    rootShards: [ShardId.fromRaw(1n)],
  } as const;
  return {
    kind: "PutRun",
    tenant: TENANT,
    run,
    guard: undefined,
    after,
    created: [],
    limits: { maxShardsPerTenant: 2, maxShardsTotal: 2 },
    noShardsIn: [],
    ...fields,
  };
}

/** The cluster, with something that is done before the next write of the run. */
function interrupted(run: RunId, intervene: () => Promise<unknown>): Cluster {
  let isDone = false;
  const txn: EtcdClient["txn"] = async (asked) => {
    const isWrite = asked.success.some(
      (operation) => "put" in operation && operation.put === layout.head({ tenant: TENANT, run }),
    );
    if (isWrite && !isDone) {
      isDone = true;
      await intervene();
    }
    return client.txn(asked);
  };
  return new Cluster(Object.assign(Object.create(client) as EtcdClient, { txn }), { layout, maxTxnOps: 128 });
}

async function change(fields: Partial<ShardRecord>): Promise<void> {
  const { record, version } = unwrap(await store.readShard(TENANT, { run: RUN, shard: ShardId.fromRaw(1n) })).shard!;
  const set: UpdateShardSet = {
    kind: "UpdateShard",
    tenant: TENANT,
    run: RUN,
    shard: { guard: version, before: record, after: { ...record, ...fields } },
    runGuard: undefined,
    hintAt: undefined,
  };
  expect(await store.commit([set])).toMatchObject([{ kind: "Committed" }]);
}

const neverGivenUp = (): void => assert(false, "nothing was staged");
const lease = { owner: WorkerId.fromRaw(1n), deadline: LogicalTime.fromRaw(9n), opId: OpId.fromRaw(1n) };

describe.skipIf(skipped !== undefined)("between the read and the write", () => {
  test.each([
    { status: "Active", before: "Parked", fields: { status: "Active", parkReason: undefined } },
    { status: "Active", before: "Parked", fields: { status: "Active", parkReason: undefined, lease } },
    {
      status: "Active",
      before: "Parked",
      fields: { status: "Active", parkReason: undefined, cursor: Cursor.withLastKey(Uint8Array.of(2)) },
    },
    { status: "Parked", before: "Active", fields: { status: "Parked", parkReason: "Other" } },
    { status: "Split", before: "Active", fields: { status: "Split", spawned: [ShardId.fromRaw(1n << 63n)] } },
    { status: "Done", before: "Active", fields: { status: "Done" } },
  ] as const)("a shard that becomes $status keeps the run from being written", async ({ status, before, fields }) => {
    const [made] = await store.commit([makePut({ created: [makeShard(RUN, before)] })]);
    assert(made?.kind === "Committed", "the run is made");
    const set = makePut({ guard: made.version, noShardsIn: [status] });
    expect(
      await putRun(
        interrupted(RUN, () => change(fields)),
        set,
        neverGivenUp,
      ),
    ).toEqual({ kind: "Conflict" });
    expect(
      (await putRun(new Cluster(client, { layout, maxTxnOps: 128 }), makePut({ guard: made.version }), neverGivenUp))
        .kind,
    ).toBe("Committed");
  });

  test("a shard that another creates counts", async () => {
    const other = RunId.fromRaw(2n);
    const two = [makeShard(RUN, "Active"), { ...makeShard(RUN, "Active"), shard: ShardId.fromRaw(2n) }];
    const cluster = interrupted(RUN, () =>
      store.commit([makePut({ run: other, created: [makeShard(other, "Active")] })]),
    );
    expect(await putRun(cluster, makePut({ created: two }), neverGivenUp)).toEqual({
      kind: "LimitExceeded",
      scope: "PerTenant",
      current: 1,
      additional: 2,
      max: 2,
    });
    expect(unwrap(await store.readRun(TENANT, RUN))).toEqual({ kind: "Missing" });
  });

  test("a run that another writes is a conflict, and one that another makes, too", async () => {
    const [made] = await store.commit([makePut({})]);
    assert(made?.kind === "Committed", "the run is made");
    const write = makePut({ guard: made.version });
    expect(
      await putRun(
        interrupted(RUN, () => store.commit([write])),
        write,
        neverGivenUp,
      ),
    ).toEqual({ kind: "Conflict" });
    const other = makePut({ run: RunId.fromRaw(2n) });
    expect(
      await putRun(
        interrupted(other.run, () => store.commit([other])),
        other,
        neverGivenUp,
      ),
    ).toEqual({ kind: "Conflict" });
  });
});
