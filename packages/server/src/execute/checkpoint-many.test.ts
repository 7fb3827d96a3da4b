// Checkpoints of many sessions share a request and a commit. A defect that concerns one of them must not fail the others,
// lose what they stored or store it twice, and requests that arrive together must not each pay for a commit.
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId, type ShardKey } from "@gossip/contracts";
import { Coordinator, MemoryStore, type CoordinationEvent } from "@gossip/coordination";
import { ManualClock, StoreProbe } from "@gossip/coordination/testing";
import { writeId, type BodyOf } from "@gossip/protocol";
import { InvariantViolation, unwrap } from "@gossip/stdx";
import { expect, test } from "vitest";
import { LOCAL_PRINCIPAL } from "../auth/principal.ts";
import { checkpointMany } from "./checkpoint-many.ts";
import { ElementContext, isFailure } from "./element-context.ts";
import { Service } from "./service.ts";

const tenant = TenantId.fromBytes(new Uint8Array(32).fill(1));
const run = RunId.fromRaw(1n);
const worker = WorkerId.fromRaw(7n);
const SHARDS = 4;
const keyOf = (shard: number): ShardKey => ({ run, shard: ShardId.fromRaw(BigInt(shard)) });

/** A store with a record that cannot be read. It answers with promises, as a durable store does. */
class DefectiveStore extends StoreProbe {
  override mayIntervene = true;
  unreadable: ShardId | undefined;

  override readShard(of: TenantId, key: ShardKey) {
    if (key.shard === this.unreadable) throw new InvariantViolation("the record cannot be");
    return super.readShard(of, key);
  }
}

/** A service whose coordinator has not seen the shards yet. All are held by one worker. */
class World {
  readonly store = new DefectiveStore(new MemoryStore());
  readonly clock = new ManualClock(1_000n);
  readonly coordinator = new Coordinator({ store: this.store, clock: this.clock, shardCopies: 10 });
  readonly defects: unknown[] = [];
  readonly events: CoordinationEvent[] = [];
  readonly #context: ElementContext;

  static async make(): Promise<World> {
    const world = new World();
    const before = new Coordinator({ store: world.store, clock: world.clock });
    const shards = Array.from({ length: SHARDS }, (_, index) => ({
      shard: keyOf(index).shard,
      spec: ShardSpec.withRange({ start: Uint8Array.of(0x61 + index), end: Uint8Array.of(0x62 + index) }),
      cursor: Cursor.initial(),
    }));
    const config = { leaseDuration: 100n };
    unwrap(await before.createRunWithShards({ tenant, run, config, shards, opId: OpId.fromRaw(1n) }));
    for (let shard = 0; shard < SHARDS; shard++)
      unwrap(await before.acquire({ tenant, key: keyOf(shard), worker, opId: OpId.fromRaw(2n) }));
    world.store.reset();
    return world;
  }

  private constructor() {
    const service = new Service({
      coordinator: this.coordinator,
      clock: this.clock,
      onDefect: (thrown) => this.defects.push(thrown),
      random: (bytes) => new Uint8Array(bytes),
      nowMs: () => 0,
      timers: { after: () => () => {} },
    });
    this.coordinator.onEvent((event) => this.events.push(event));
    this.#context = new ElementContext(service, LOCAL_PRINCIPAL, new AbortController().signal);
  }

  /** Every shard to its key number `at`. */
  async checkpoint(shards: readonly number[], at: number) {
    const body: BodyOf<"checkpointMany"> = {
      tenant,
      run: writeId(run),
      worker: writeId(worker),
      shards: shards.map((shard) => writeId(BigInt(shard))),
      fences: shards.map(() => "2"),
      opIds: shards.map(() => writeId(BigInt(100 + at))),
      cursors: shards.map((shard) => `${String.fromCharCode(0x61 + shard)}${at}`),
    };
    const answer = await checkpointMany(this.#context, { params: {}, query: {}, body });
    if (isFailure(answer)) throw new Error(answer.error.kind);
    return answer.ok;
  }

  async storedKey(shard: number): Promise<string> {
    const record = unwrap(await this.coordinator.getShard({ tenant, key: keyOf(shard) }));
    return Buffer.from(record!.cursor.lastKey!).toString();
  }
}

test("a defect in one checkpoint fails it alone, and the others are stored once", async () => {
  const world = await World.make();
  expect(await world.checkpoint([0, 1], 1)).toMatchObject({ done: { outcome: "Executed" } });
  world.events.length = 0;
  world.store.unreadable = keyOf(2).shard;

  const { done, others } = await world.checkpoint([0, 2, 1], 2);
  expect(done).toBeUndefined();
  expect(others).toMatchObject([
    { index: 0, ok: { outcome: "Replayed" } },
    { index: 1, error: { kind: "InternalError" }, status: 500 },
    { index: 2, ok: { outcome: "Replayed" } },
  ]);
  expect(world.defects).toMatchObject([{ message: "the record cannot be" }]);
  expect([await world.storedKey(0), await world.storedKey(1)]).toEqual(["a2", "b2"]);
  expect(world.events.map((event) => ("shard" in event ? [event.kind, event.shard] : event.kind))).toEqual([
    ["ShardCheckpointed", 0n],
    ["ShardCheckpointed", 1n],
  ]);

  world.store.unreadable = undefined;
  expect(await world.checkpoint([2], 2)).toMatchObject({ done: { outcome: "Executed" } });
});

test("requests of one turn of the event loop share a commit", async () => {
  const world = await World.make();
  await world.checkpoint([0, 1, 2, 3], 1);
  world.store.reset();
  const first = world.checkpoint([0, 1], 2);
  // The second request is read when everything that the first one started has had its turn.
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
  const answers = await Promise.all([first, world.checkpoint([2, 3], 2)]);
  expect(answers).toMatchObject([{ done: { outcome: "Executed" } }, { done: { outcome: "Executed" } }]);
  expect(world.store.commits.map(({ length }) => length)).toEqual([4]);
});
