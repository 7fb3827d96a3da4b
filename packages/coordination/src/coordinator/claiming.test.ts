// A worker that is told "nothing left" goes home. It must not be told so while there are shards that it could have, whatever
// became of the few that it tried first.

import { OpId, ShardKey } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import { beforeEach, describe, expect, test } from "vitest";
import { initial, op, RUN, shardId, TENANT, worker } from "../kernel/world.fixture.ts";
import { MemoryStore } from "../memory/memory-store.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { Coordinator } from "./coordinator.ts";

const SHARDS = 64;

let coordinator: Coordinator;

async function createRun(maxShardRetries?: number): Promise<void> {
  const text = (index: number) => `k${String(index).padStart(3, "0")}`;
  const shards = Array.from({ length: SHARDS }, (_, index) => initial(100 + index, text(index), text(index + 1)));
  const config = { leaseDuration: 100n, ...(maxShardRetries === undefined ? {} : { maxShardRetries }) };
  unwrap(await coordinator.createRunWithShards({ tenant: TENANT, run: RUN, config, shards, opId: op(1) }));
}

beforeEach(() => {
  coordinator = new Coordinator({ store: new MemoryStore(), clock: new ManualClock(10n) });
});

describe("claim", () => {
  test("goes on past shards that have been tried too often, until it finds one that has not", async () => {
    await createRun(0);
    const fresh = 4;
    for (let index = fresh; index < SHARDS; index++) {
      const key = ShardKey.of(RUN, shardId(100 + index));
      const { lease } = unwrap(await coordinator.acquire({ tenant: TENANT, key, worker: worker(1) })).value;
      unwrap(await coordinator.release({ tenant: TENANT, lease, opId: OpId.random() }));
    }
    for (let claimed = 0; claimed < fresh; claimed++) {
      const session = unwrap(await coordinator.claim({ tenant: TENANT, run: RUN, worker: worker(claimed + 1) }));
      expect(session.shardKey.shard).toBeLessThan(100n + BigInt(fresh));
    }
    expect(await coordinator.claim({ tenant: TENANT, run: RUN, worker: worker(9) })).toMatchObject({ ok: false, error: { kind: "NoneAvailable" } });
  });

  test("of as many workers as there are shards, all at once: who goes without is told to try again now, not a lease later", async () => {
    await createRun();
    const claims = await Promise.all(Array.from({ length: SHARDS }, (_, index) => coordinator.claim({ tenant: TENANT, run: RUN, worker: worker(index + 1) })));
    const got = claims.filter((claim) => claim.ok).length;
    const free = unwrap(await coordinator.collectClaimCandidates({ tenant: TENANT, run: RUN })).shards.length;
    expect(free).toBe(SHARDS - got);
    for (const claim of claims) if (!claim.ok) expect(claim.error).toMatchObject({ kind: "NoneAvailable", earliestDeadline: expect.any(BigInt) as bigint });
    // Whoever tries again at that time gets one: in the end nobody is left without.
    for (let left = free; left > 0; left--) expect((await coordinator.claim({ tenant: TENANT, run: RUN, worker: worker(1000 + left) })).ok).toBe(true);
  });
});
