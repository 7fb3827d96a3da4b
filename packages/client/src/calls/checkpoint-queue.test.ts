// Nearly all that a client sends goes through this queue. A result that reaches the wrong caller, or none, loses progress;
// a node that does not know the short form must not stop a worker.
import { Cursor, FenceEpoch, LogicalTime, OpId, RunId, ShardId, TenantId, WorkerId } from "@gossip/contracts";
import { Lease, type CheckpointRequest } from "@gossip/coordination";
import type { BodyOf, ResponseOf } from "@gossip/protocol";
import { expect, test } from "vitest";
import { LostReply, type Reply } from "../http/transport.ts";
import { CheckpointQueue, type CheckpointTrouble } from "./checkpoint-queue.ts";
import type { Patience } from "./patience.ts";
import type { Checkpointed } from "./read-checkpoint.ts";

const PATIENCE: Patience = {
  patienceMs: 30_000,
  replyTimeoutMs: 10_000,
  firstPauseMs: 20,
  maxPauseMs: 1_000,
  nowMs: () => 5,
  random: () => 0,
  sleep: () => Promise.resolve(),
};
const DONE = { outcome: "Executed", deadline: "70", capacity: { available: 1, isStarved: false } } as const;

type Body = BodyOf<"checkpointMany">;

/** A queue, the bodies that it sent, and the outcome of each checkpoint. */
class World {
  readonly bodies: Body[] = [];
  readonly settled = new Map<bigint, Checkpointed>();
  readonly rejected = new Map<bigint, unknown>();
  readonly long = new Map<bigint, { readonly trouble: CheckpointTrouble | undefined; readonly endMs: number }>();
  readonly #queue: CheckpointQueue;

  constructor(answer: (body: Body) => Reply | LostReply | Error) {
    this.#queue = new CheckpointQueue(
      async ({ body }) => {
        this.bodies.push(body as Body);
        const reply = answer(body as Body);
        if (reply instanceof Error) throw reply;
        return reply;
      },
      PATIENCE,
      ({ request, endMs }, trouble) => void this.long.set(request.lease.shard, { trouble, endMs }),
    );
  }

  async send(count: number, more: (index: number) => Partial<CheckpointRequest & { owner: WorkerId }> = () => ({})) {
    for (let index = 0; index < count; index++) {
      const { owner = WorkerId.fromRaw(7n), ...rest } = more(index);
      const shard = ShardId.fromRaw(BigInt(index));
      const lease = Lease.of({
        tenant: TenantId.ZERO,
        run: RunId.fromRaw(1n),
        shard,
        owner,
        fence: FenceEpoch.fromRaw(2n),
        deadline: LogicalTime.fromRaw(60n),
      });
      const cursor = Cursor.withLastKey(Uint8Array.of(0x61 + index));
      const request = { tenant: TenantId.ZERO, lease, opId: OpId.fromRaw(9n), cursor, renew: true, ...rest };
      this.#queue.send(request, {
        settle: (result) => void this.settled.set(shard, result),
        reject: (thrown) => void this.rejected.set(shard, thrown),
      });
    }
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => void setImmediate(resolve));
  }
}

const reply = (json: ResponseOf<"checkpointMany">): Reply => ({ status: 200, json });

test("the checkpoints of one turn are columns of one request, and share their result", async () => {
  const world = new World(() => reply({ done: DONE }));
  await world.send(3);
  expect(world.bodies).toEqual([
    {
      tenant: TenantId.ZERO,
      run: "0000000000000001",
      worker: "0000000000000007",
      renew: true,
      shards: ["0000000000000000", "0000000000000001", "0000000000000002"],
      fences: ["2", "2", "2"],
      opIds: Array.from({ length: 3 }, () => "0000000000000009"),
      cursors: ["a", "b", "c"],
    },
  ]);
  const value = { newDeadline: 70n, capacity: { availableCount: 1, earliestDeadline: undefined, isStarved: false } };
  expect([...world.settled.values()]).toEqual(
    world.bodies[0]!.shards.map(() => ({ ok: true, value: { kind: "Executed", value } })),
  );
});

test("cursors that are no text, or have a token, are sent as objects", async () => {
  const world = new World(() => reply({ done: DONE }));
  const cursors = [
    Cursor.withLastKey(Uint8Array.of(0xff)),
    Cursor.fromParts({ lastKey: Uint8Array.of(0x61), token: Uint8Array.of(0x62) }),
  ];
  await world.send(2, (index) => ({ cursor: cursors[index]! }));
  expect(world.bodies[0]!.cursors).toEqual([{ key64: "_w" }, { key: "a", token: "b" }]);
});

test("those that differ from the rest have their own results; errors are left to the long form", async () => {
  const error = { kind: "StaleFence", message: "m", advice: "Reacquire" };
  const others = [
    { index: 1, ok: { ...DONE, outcome: "Replayed" as const } },
    { index: 2, error, status: 409 },
  ];
  const world = new World(() => reply({ done: DONE, others }));
  await world.send(4);
  expect([...world.settled].map(([shard, result]) => [shard, result.ok && result.value.kind])).toEqual([
    [0n, "Executed"],
    [1n, "Replayed"],
    [3n, "Executed"],
  ]);
  expect([...world.long]).toEqual([[2n, { trouble: { error, status: 409 }, endMs: 30_005 }]]);
});

test("a response without a result for a checkpoint is no answer to it", async () => {
  const world = new World(() => reply({ others: [{ index: 0, ok: DONE }] }));
  await world.send(2);
  expect([...world.settled.keys()]).toEqual([0n]);
  expect(world.long.get(ShardId.fromRaw(1n))?.trouble).toMatchObject({ lost: expect.any(LostReply) as unknown });
});

test("what is lost or refused as a whole goes on in the long form", async () => {
  const lost = new LostReply(undefined);
  const error = { kind: "Misdirected", message: "m", advice: "RetrySameOpId", owner: "h:1" };
  for (const [answer, trouble] of [
    [lost, { lost }],
    [
      { status: 421, json: { error } },
      { error, status: 421 },
    ],
  ] as const) {
    const world = new World(() => answer);
    await world.send(4);
    expect([...world.long.values()]).toEqual([0, 1, 2, 3].map(() => ({ trouble, endMs: 30_005 })));
    expect([world.settled.size, world.rejected.size]).toEqual([0, 0]);
  }
});

test("a defect rejects", async () => {
  const world = new World(() => new Error("defect"));
  await world.send(2);
  expect(world.rejected.size).toBe(2);
});

test("a node that does not know the short form is not asked again", async () => {
  const error = { kind: "UnknownPath", message: "m", advice: "FixCaller" };
  const world = new World(() => ({ status: 404, json: { error } }));
  await world.send(4);
  expect([...world.long.values()]).toEqual([0, 1, 2, 3].map(() => ({ trouble: undefined, endMs: 30_005 })));
  world.long.clear();
  await world.send(4);
  expect([world.bodies.length, world.long.size]).toEqual([1, 4]);
});

test("small groups travel together in the long form", async () => {
  const world = new World(() => reply({ done: DONE }));
  await world.send(8, (index) => ({ owner: WorkerId.fromRaw(index < 6 ? 1n : BigInt(index)) }));
  expect(world.bodies.map(({ shards }) => shards.length)).toEqual([6]);
  expect([...world.long.keys()]).toEqual([6n, 7n]);
});
