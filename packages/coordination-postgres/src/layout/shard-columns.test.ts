// The columns of an update come from an encoder that keeps the bytes of the record before. One that stored them
// unchanged would report progress that the row does not have.
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import { Coordinator, MemoryStore, systemClock, type ShardWrite, type WriteSet } from "@gossip/coordination";
import { ShardEncoder } from "@gossip/coordination-codec/internal";
import { unwrap } from "@gossip/stdx";
import { expect, test } from "vitest";
import { cursorColumns, updatedCursorColumns } from "./shard-columns.ts";

/** More checkpoints than a log has entries: from then on the encoder makes a record from the one before. */
const CHECKPOINTS = 40;

/** A store that keeps the updates of shards that it was given. */
class RecordingStore extends MemoryStore {
  readonly updates: ShardWrite[] = [];

  override commit(sets: readonly WriteSet[]): ReturnType<MemoryStore["commit"]> {
    for (const set of sets) if (set.kind === "UpdateShard") this.updates.push(set.shard);
    return super.commit(sets);
  }
}

test("an update has the columns of a new shard with its record, however many came before", async () => {
  const store = new RecordingStore();
  let nowMs = 1_000;
  const coordinator = new Coordinator({ store, clock: systemClock(() => nowMs) });
  const tenant = TenantId.fromBytes(new Uint8Array(32).fill(1));
  const [run, shard] = [RunId.fromRaw(1n), ShardId.fromRaw(7n)];
  const shards = [
    { shard, spec: ShardSpec.withRange({ start: Uint8Array.of(1), end: Uint8Array.of(2) }), cursor: Cursor.initial() },
  ];
  unwrap(
    await coordinator.createRunWithShards({
      tenant,
      run,
      shards,
      config: { leaseDuration: 30_000n },
      opId: OpId.fromRaw(1n),
    }),
  );
  const session = unwrap(
    await coordinator.openSession({
      tenant,
      key: { run, shard },
      worker: WorkerId.fromRaw(1n),
      opId: OpId.fromRaw(2n),
    }),
  );
  for (let at = 0; at < CHECKPOINTS; at++) {
    nowMs += 100;
    const opId = OpId.fromRaw(BigInt(at + 3));
    unwrap(await session.checkpoint(Cursor.withLastKey(Uint8Array.of(1, at)), { opId, renew: at % 5 === 0 }));
  }

  const encoder = new ShardEncoder();
  expect(store.updates).toHaveLength(CHECKPOINTS + 1);
  for (const update of store.updates)
    expect(updatedCursorColumns([update], encoder)).toEqual(cursorColumns([update.after]));
});
