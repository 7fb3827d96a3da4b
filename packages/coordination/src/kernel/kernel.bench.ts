// The kernel alone: what deciding costs, before any store or promise. Reported per operation, so that a change in one of
// them is seen; the bounds are on the whole path, in the coordinator's bench.
import {
  Cursor,
  FenceEpoch,
  LogicalTime,
  OpId,
  RunId,
  ShardId,
  ShardSpec,
  SplitReplacePlan,
  SplitResidualPlan,
  TenantId,
  WorkerId,
} from "@gossip/contracts";
import { Lease, newRunRecord, newShardRecord, RunConfig, type ShardRecord } from "@gossip/coordination";
import { kernel } from "@gossip/coordination/internal";
import { unwrap } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";

const key = (text: string) => new TextEncoder().encode(text.padEnd(32, "."));
const tenant = TenantId.fromBytes(new Uint8Array(32).fill(1));
const now = LogicalTime.fromRaw(50n);
const config = unwrap(RunConfig.tryNew({ leaseDuration: 100n }));
const shardKey = { run: RunId.fromRaw(1n), shard: ShardId.fromRaw(10n) };
const run = {
  ...newRunRecord({ tenant, run: shardKey.run, config, now }),
  status: "Active" as const,
  rootShards: [shardKey.shard],
};
const range = (start: string, end: string) => ShardSpec.withRange({ start: key(start), end: key(end) });
const free = newShardRecord({
  tenant,
  key: shardKey,
  spec: range("a", "z"),
  cursor: Cursor.initial(),
  cursorSemantics: "Completed",
  parent: undefined,
  now,
});

/** Held, and with a full log: what a shard looks like whose worker has been at it for a while. */
function makeHeld(): { shard: ShardRecord; lease: Lease } {
  const worker = WorkerId.fromRaw(7n);
  const { outcome } = unwrap(
    kernel.acquire({ run, shard: free }, { tenant, key: shardKey, worker, opId: OpId.fromRaw(1n) }, now),
  );
  if (outcome.kind !== "Granted") throw new Error("a free shard is granted");
  let { shard } = outcome;
  const lease = Lease.of({
    tenant,
    ...shardKey,
    owner: worker,
    fence: FenceEpoch.fromRaw(2n),
    deadline: LogicalTime.fromRaw(150n),
  });
  for (let index = 0; index < 16; index++) {
    const cursor = Cursor.withLastKey(key(`b${String(index).padStart(4, "0")}`));
    const command = { tenant, lease, cursor, opId: OpId.fromRaw(BigInt(100 + index)), renew: false };
    shard = unwrap(kernel.checkpoint({ run, shard }, command, now)).outcome.value.shard;
  }
  return { shard, lease };
}

const { shard: held, lease } = makeHeld();
const parked = unwrap(
  kernel.park({ run, shard: held }, { tenant, lease, reason: "Other", opId: OpId.fromRaw(2n) }, now),
).outcome.value;
const cursor = Cursor.withLastKey(key("c"));
const OPS = Array.from({ length: 1024 }, (_, index) => OpId.fromRaw(BigInt(index + 1000)));
const opOf = (call: number) => OPS[call & 1023]!;
const replace = unwrap(
  SplitReplacePlan.tryNew([
    { spec: range("a", "m"), cursor: held.cursor },
    { spec: range("m", "z"), cursor: Cursor.initial() },
  ]),
);
const residual = unwrap(SplitResidualPlan.tryNew({ parentNewSpec: range("a", "m"), residualSpec: range("m", "z") }));
const loaded = { run, shard: held };

compare("kernel, 32-byte keys, full log", {
  forms: {
    acquire: (call: number) =>
      kernel.acquire(
        { run, shard: free },
        { tenant, key: shardKey, worker: WorkerId.fromRaw(7n), opId: opOf(call) },
        now,
      ),
    renew: () => kernel.renew(loaded, { tenant, lease }, now),
    checkpoint: (call: number) =>
      kernel.checkpoint(loaded, { tenant, lease, opId: opOf(call), cursor, renew: false }, now),
    "checkpoint, refused": (call: number) =>
      kernel.checkpoint(loaded, { tenant, lease, opId: opOf(call), cursor, renew: false }, LogicalTime.fromRaw(150n)),
    complete: (call: number) => kernel.complete(loaded, { tenant, lease, opId: opOf(call), point: cursor }, now),
    park: (call: number) => kernel.park(loaded, { tenant, lease, opId: opOf(call), reason: "Other" }, now),
    release: (call: number) => kernel.release(loaded, { tenant, lease, opId: opOf(call) }, now),
    "splitReplace, 2 children": (call: number) =>
      kernel.splitReplace(loaded, { tenant, lease, opId: opOf(call), plan: replace, maxChildren: 256 }, now),
    splitResidual: (call: number) =>
      kernel.splitResidual(
        { run, shard: held, residual: undefined },
        { tenant, lease, opId: opOf(call), plan: residual },
        now,
      ),
    unpark: (call: number) => kernel.unpark({ run, shard: parked }, { tenant, key: shardKey, opId: opOf(call) }, now),
  },
});
