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
  type ShardRecord,
  type FailureInput,
} from "@gossip/coordination";
import { ManualClock } from "@gossip/coordination/testing";
import { unwrap } from "@gossip/stdx";
import { Random } from "./random.ts";

export const FAMILY_TENANT: TenantId = TenantId.fromBytes(new Uint8Array(32).fill(5));
export const FAMILY_RUN: RunId = RunId.fromRaw(3n);

const key = (position: number): Uint8Array => Uint8Array.of(position >> 8, position & 0xff);
const positionOf = (bytes: Uint8Array): number => (bytes[0]! << 8) | bytes[1]!;
const specOf = (start: number, end: number): ShardSpec => ShardSpec.withRange({ start: key(start), end: key(end) });

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
  // Not by chance: the ids of shards that come of a split follow from those of operations, and which one is claimed next from them.
  let lastOpId = 1n;
  const coordinator = new Coordinator({ store, clock, newOpId: () => OpId.fromRaw(++lastOpId) });
  const roots = [0, 1, 2].map((index) => ({
    shard: ShardId.fromRaw(BigInt(index)),
    // Registered ranges need not meet.
    spec: specOf(index * 20_000, index * 20_000 + 18_000),
    cursor: Cursor.initial(),
  }));
  const config = { leaseDuration: 1000n };
  unwrap(
    await coordinator.createRunWithShards({
      tenant: FAMILY_TENANT,
      run: FAMILY_RUN,
      config,
      shards: roots,
      opId: OpId.fromRaw(1n),
    }),
  );
  const claim = () => {
    clock.advance(1n);
    return coordinator.claim({
      tenant: FAMILY_TENANT,
      run: FAMILY_RUN,
      worker: WorkerId.fromRaw(BigInt(random.below(9) + 1)),
    });
  };
  for (let step = 0; step < steps; step++) {
    const claimed = await claim();
    if (!claimed.ok) break;
    await using session = claimed.value;
    const start = positionOf(session.spec.keyRangeStart);
    const end = positionOf(session.spec.keyRangeEnd);
    const from = session.cursor.lastKey === undefined ? start : positionOf(session.cursor.lastKey);
    if (end - from < 8) {
      unwrap(await session.complete(RANGE_EXHAUSTED));
      continue;
    }
    const at = from + random.below(Math.floor((end - from) / 4));
    const point = at + 2 + random.below(end - at - 4);
    if (!random.chance(4))
      unwrap(await session.checkpoint(Cursor.fromParts({ lastKey: key(at) }), { failures: failuresAt(at) }));
    const { cursor } = session;
    const move = random.below(6);
    if (move < 2) {
      unwrap(
        await session.splitResidual(
          unwrap(SplitResidualPlan.tryNew({ parentNewSpec: specOf(start, point), residualSpec: specOf(point, end) })),
        ),
      );
    } else if (move < 4) {
      const children = [
        { spec: specOf(start, point), cursor },
        { spec: specOf(point, end), cursor: Cursor.initial() },
      ];
      unwrap(await session.splitReplace(unwrap(SplitReplacePlan.tryNew(children))));
    } else if (move === 4 && random.chance(3)) {
      unwrap(await session.park("Poisoned", { detail: DETAIL }));
    }
  }
  // One of each at least, whatever became of the rest, where there is one left.
  const finished = await claim();
  if (finished.ok) unwrap(await finished.value.complete(RANGE_EXHAUSTED));
  const parked = await claim();
  if (parked.ok) unwrap(await parked.value.park("Poisoned", { detail: DETAIL }));
  const page = unwrap(
    await store.listShards({
      tenant: FAMILY_TENANT,
      run: FAMILY_RUN,
      after: undefined,
      limit: 1000,
      filter: {},
      now: clock.now(),
    }),
  );
  return page.items;
}
