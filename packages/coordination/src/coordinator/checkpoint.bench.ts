// A checkpoint is what a worker does all day. Guarded, hashed, logged and checked, in memory, against the same record in a
// plain Map without any guard.
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId, type LogicalTime } from "@gossip/contracts";
import { Coordinator, MemoryStore, type ShardRecord, type WorkerSession } from "@gossip/coordination";
import { kernel } from "@gossip/coordination/internal";
import { assert, unwrap } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";

// As many sessions as a busy process has. With thousands the caches of the processor decide, not the code.
const SHARDS = 64;
const key = (text: string) => new TextEncoder().encode(text.padEnd(32, "."));
const tenant = TenantId.fromBytes(new Uint8Array(32).fill(1));
const run = RunId.fromRaw(1n);
const now = 50n as LogicalTime;
const name = (index: number) => String(index).padStart(6, "0");
const shards = Array.from({ length: SHARDS }, (_, index) => ({
  shard: ShardId.fromRaw(BigInt(index)),
  spec: ShardSpec.withRange({ start: key(name(index)), end: key(name(index + 1)) }),
  cursor: Cursor.initial(),
}));
// Only the token moves: then the same keys serve forever, and everything else is done as for a new key.
const cursors = shards.map(({ spec }) => spec.keyRangeStart);
// Drawn beforehand, and more of them than a shard remembers. The runner counts its calls from zero again and again, so they are counted here.
const opIds = Array.from({ length: 65_536 }, () => OpId.random());
let opCount = 0;
const nextOp = () => opIds[opCount++ & 65_535]!;

async function open(): Promise<{ store: MemoryStore; sessions: readonly WorkerSession[] }> {
  const store = new MemoryStore({ slabCapacity: 1 << 22 });
  const coordinator = new Coordinator({ store, clock: { now: () => now } });
  unwrap(
    await coordinator.createRunWithShards({
      tenant,
      run,
      config: { leaseDuration: 1_000_000n },
      shards,
      opId: OpId.fromRaw(1n),
    }),
  );
  const sessions = await Promise.all(
    shards.map(async ({ shard }) =>
      unwrap(await coordinator.openSession({ tenant, key: { run, shard }, worker: WorkerId.fromRaw(1n) })),
    ),
  );
  return { store, sessions };
}

const held = await open();
const direct = await open();
// What a session keeps of its last write, kept here by hand: the kernel and the store without any promise.
const copies = direct.sessions.map((session) => {
  const read = unwrap(direct.store.readShard(tenant, session.shardKey));
  return { run: read.run!, shard: read.shard!, lease: session.lease };
});
const records = new Map<string, ShardRecord>(copies.map(({ shard }) => [`${run}/${shard.record.shard}`, shard.record]));
const names = [...records.keys()];

function checkpointDirectly(call: number): ShardRecord {
  const copy = copies[call & (SHARDS - 1)]!;
  const cursor = Cursor.withLastKey(cursors[call & (SHARDS - 1)]!);
  const { record, version } = copy.shard;
  const decided = kernel.checkpoint(
    { run: copy.run.record, shard: record },
    { tenant, lease: copy.lease, cursor, opId: nextOp(), renew: false },
    now,
  );
  assert(decided.ok && decided.value.writes !== undefined, "the checkpoint is accepted");
  const after = decided.value.writes.shard;
  const answers = direct.store.commit([
    {
      kind: "UpdateShard",
      tenant,
      run,
      shard: { guard: version, before: record, after },
      runGuard: undefined,
      hintAt: now,
    },
  ]);
  const answer = answers[0]!;
  assert(answer.kind === "Committed", "the write is made");
  copy.shard = { record: after, version: answer.version };
  return after;
}

function overwrite(call: number): ShardRecord {
  const id = names[call & (SHARDS - 1)]!;
  const record = records.get(id)!;
  const after = { ...record, cursor: Cursor.withLastKey(cursors[call & (SHARDS - 1)]!) };
  records.set(id, after);
  return after;
}

const nextCursor = (call: number) => Cursor.withLastKey(cursors[call & (SHARDS - 1)]!);
const checkpointBySession = (call: number) =>
  held.sessions[call & (SHARDS - 1)]!.checkpoint(nextCursor(call), { opId: nextOp() });

compare("checkpoint in memory, 32-byte keys", {
  forms: {
    "kernel and memory store": checkpointDirectly,
    "Map read-modify-write, unprotected": overwrite,
  },
  bounds: [
    { form: "kernel and memory store", ratioAtMost: 6, toBestOf: ["Map read-modify-write, unprotected"] },
    { form: "kernel and memory store", perSecondAtLeast: 250_000 },
  ],
});

compare("checkpoint through a session, awaited one by one", {
  forms: {
    "session.checkpoint": checkpointBySession,
    "session.checkpoint, op id drawn": (call) => held.sessions[call & (SHARDS - 1)]!.checkpoint(nextCursor(call)),
    "a promise around the Map": (call) => Promise.resolve(overwrite(call)),
  },
});

compare("checkpoints of 64 sessions in one turn", {
  forms: {
    "Promise.all of 64": () => Promise.all(cursors.map((_, index) => checkpointBySession(index))),
  },
  options: { callsPerRun: 64 },
  bounds: [{ form: "Promise.all of 64", perSecondAtLeast: 250_000 }],
});
