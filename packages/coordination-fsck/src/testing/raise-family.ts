import {
  Cursor,
  OpId,
  RunId,
  ShardId,
  ShardSpec,
  SplitReplacePlan,
  SplitResidualPlan,
  TenantId,
  WorkerId,
} from "@gossip/contracts";
import {
  Coordinator,
  RANGE_EXHAUSTED,
  type CoordinationStore,
  type FailureInput,
  type ShardRecord,
  type WorkerSession,
} from "@gossip/coordination";
import { ManualClock } from "@gossip/coordination/testing";
import { unwrap } from "@gossip/stdx";
import { Random } from "./random.ts";

export const FAMILY_TENANT: TenantId = TenantId.fromBytes(new Uint8Array(32).fill(5));
export const FAMILY_RUN: RunId = RunId.fromRaw(3n);

const key = (position: number): Uint8Array => Uint8Array.of(position >> 8, position & 0xff);
const positionOf = (bytes: Uint8Array): number => (bytes[0]! << 8) | bytes[1]!;
const specOf = (start: number, end: number): ShardSpec => ShardSpec.withRange({ start: key(start), end: key(end) });

const FAMILY = { tenant: FAMILY_TENANT, run: FAMILY_RUN };

/** Registered ranges need not touch. */
const ROOTS = [0, 1, 2].map((index) => ({
  shard: ShardId.fromRaw(BigInt(index)),
  spec: specOf(index * 20_000, index * 20_000 + 18_000),
  cursor: Cursor.initial(),
}));

export interface FamilyOptions {
  /** 1 by default. The same seed makes the same family. */
  readonly seed?: number;
  /** Claims to make; 40 by default. */
  readonly steps?: number;
}

const DETAIL = { attempts: 2, error: "an item failed" } as const;

/** Every third item fails. */
function failuresAt(position: number): readonly FailureInput[] | undefined {
  if (position % 3 > 0) return undefined;
  return [{ key: key(position), attempts: 1, reason: "ItemFailed", error: `item ${position} failed` }];
}

/**
 * Creates a run in a store and works on its shards: splits them in both ways, again and again, finishes and parks some,
 * and records failures. Returns all shards: something for a check to go through.
 */
export async function raiseFamily(
  store: CoordinationStore,
  { seed = 1, steps = 40 }: FamilyOptions = {},
): Promise<readonly ShardRecord[]> {
  const random = new Random(seed);
  const clock = new ManualClock(1n);
  // Op ids are fixed: the ids of split products derive from them, and with those the order of claims.
  let lastOpId = 1n;
  const coordinator = new Coordinator({ store, clock, newOpId: () => OpId.fromRaw(++lastOpId) });
  unwrap(
    await coordinator.createRunWithShards({
      ...FAMILY,
      config: { leaseDuration: 1000n },
      shards: ROOTS,
      opId: OpId.fromRaw(1n),
    }),
  );
  const claim = () => {
    clock.advance(1n);
    return coordinator.claim({ ...FAMILY, worker: WorkerId.fromRaw(BigInt(random.below(9) + 1)) });
  };
  for (let step = 0; step < steps; step++) {
    const claimed = await claim();
    if (!claimed.ok) break;
    await using session = claimed.value;
    await workOn(session, random);
  }
  // At least one shard of each state, if any are left.
  const finished = await claim();
  if (finished.ok) unwrap(await finished.value.complete(RANGE_EXHAUSTED));
  const parked = await claim();
  if (parked.ok) unwrap(await parked.value.park("Poisoned", { detail: DETAIL }));
  const all = { ...FAMILY, after: undefined, limit: 1000, filter: {}, now: clock.now() };
  return unwrap(await store.listShards(all)).items;
}

/** Finishes a small shard. Moves the cursor of a larger one, and may split or park it. */
async function workOn(session: WorkerSession, random: Random): Promise<void> {
  const start = positionOf(session.spec.keyRangeStart);
  const end = positionOf(session.spec.keyRangeEnd);
  const from = session.cursor.lastKey === undefined ? start : positionOf(session.cursor.lastKey);
  if (end - from < 8) {
    unwrap(await session.complete(RANGE_EXHAUSTED));
    return;
  }
  const at = from + random.below(Math.floor((end - from) / 4));
  const point = at + 2 + random.below(end - at - 4);
  if (!random.chance(4))
    unwrap(await session.checkpoint(Cursor.fromParts({ lastKey: key(at) }), { failures: failuresAt(at) }));
  const lower = specOf(start, point);
  const upper = specOf(point, end);
  const move = random.below(6);
  if (move < 2) {
    const plan = SplitResidualPlan.tryNew({ parentNewSpec: lower, residualSpec: upper });
    unwrap(await session.splitResidual(unwrap(plan)));
  } else if (move < 4) {
    const plan = SplitReplacePlan.tryNew([
      { spec: lower, cursor: session.cursor },
      { spec: upper, cursor: Cursor.initial() },
    ]);
    unwrap(await session.splitReplace(unwrap(plan)));
  } else if (move === 4 && random.chance(3)) {
    unwrap(await session.park("Poisoned", { detail: DETAIL }));
  }
}
