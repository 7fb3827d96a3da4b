// A worker that gets "nothing left" exits. It must not get that while there are shards that it could have, whatever
// became of the few that it tried first.

import { OpId, ShardKey, TenantId } from "@gossip/contracts";
import { ok, unwrap } from "@gossip/stdx";
import { beforeEach, describe, expect, test } from "vitest";
import { initial, op, RUN, shardId, TENANT, worker } from "../kernel/world.fixture.ts";
import { MemoryStore } from "../memory/memory-store.ts";
import type { RunHead } from "../records/run-record.ts";
import type { ClaimListing } from "../store/store-reads.ts";
import { FaultInjectingStore } from "../testing/fault-injecting-store.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { Coordinator } from "./coordinator.ts";
import { ScriptedFaults } from "./scripted-faults.fixture.ts";

const SHARDS = 64;

let clock: ManualClock;
let coordinator: Coordinator;

async function createRun(maxShardRetries?: number): Promise<void> {
  const text = (index: number) => `k${String(index).padStart(3, "0")}`;
  const shards = Array.from({ length: SHARDS }, (_, index) => initial(100 + index, text(index), text(index + 1)));
  const config = { leaseDuration: 100n, ...(maxShardRetries === undefined ? {} : { maxShardRetries }) };
  unwrap(await coordinator.createRunWithShards({ tenant: TENANT, run: RUN, config, shards, opId: op(1) }));
}

beforeEach(() => {
  clock = new ManualClock(10n);
  coordinator = new Coordinator({ store: new MemoryStore(), clock });
});

describe("claim checks in order", () => {
  /** What is listed for a claim, and who claims. */
  interface Situation {
    readonly listing: ClaimListing;
    readonly isThrottled: boolean;
  }
  const rules: readonly { readonly refusal: string; readonly breakIt: (situation: Situation) => Situation }[] = [
    { refusal: "RunNotFound", breakIt: (s) => ({ ...s, listing: { ...s.listing, run: undefined } }) },
    {
      refusal: "TenantMismatch",
      breakIt: (s) => withRun(s, { tenant: TenantId.fromBytes(new Uint8Array(32).fill(9)) }),
    },
    { refusal: "RunTerminal", breakIt: (s) => withRun(s, { status: "Failed" }) },
    { refusal: "Throttled", breakIt: (s) => ({ ...s, isThrottled: true }) },
    { refusal: "NoneAvailable", breakIt: (s) => ({ ...s, listing: { ...s.listing, candidates: [] } }) },
  ];

  function withRun(situation: Situation, change: Partial<RunHead>): Situation {
    const { run } = situation.listing;
    return {
      ...situation,
      listing: { ...situation.listing, run: run && { ...run, record: { ...run.record, ...change } } },
    };
  }

  /** Claim where so much is broken, and say how that is refused. */
  async function claimBroken(...broken: typeof rules): Promise<string> {
    const store = new MemoryStore();
    coordinator = new Coordinator({ store, clock, claimCooldown: 50n });
    await createRun();
    const listing = unwrap(
      store.listClaimCandidates({ tenant: TENANT, run: RUN, now: clock.now(), limit: 8, spread: 0 }),
    );
    // The innermost first, so that a run that is not there stays so.
    const situation = broken
      .toReversed()
      .reduce<Situation>((made, { breakIt }) => breakIt(made), { listing, isThrottled: false });
    if (situation.isThrottled) unwrap(await coordinator.claim({ tenant: TENANT, run: RUN, worker: worker(1) }));
    store.listClaimCandidates = () => ok(situation.listing);
    const claimed = await coordinator.claim({ tenant: TENANT, run: RUN, worker: worker(1) });
    return claimed.ok ? "accepted" : claimed.error.kind;
  }

  test("nothing is broken: it goes through", async () => {
    expect(await claimBroken()).toBe("accepted");
  });

  test.each(rules.map((rule, index) => ({ rule, later: rules.slice(index + 1) })))(
    "$rule.refusal alone, and before all that come later",
    async ({ rule, later }) => {
      expect(await claimBroken(rule)).toBe(rule.refusal);
      for (const other of later)
        expect(await claimBroken(rule, other), `${rule.refusal} before ${other.refusal}`).toBe(rule.refusal);
    },
  );
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
    expect(await coordinator.claim({ tenant: TENANT, run: RUN, worker: worker(9) })).toMatchObject({
      ok: false,
      error: { kind: "NoneAvailable" },
    });
  });

  test("of as many workers as there are shards, all at once: one that gets nothing is advised to try again now, not a lease later", async () => {
    await createRun();
    const claims = await Promise.all(
      Array.from({ length: SHARDS }, (_, index) =>
        coordinator.claim({ tenant: TENANT, run: RUN, worker: worker(index + 1) }),
      ),
    );
    const got = claims.filter((claim) => claim.ok).length;
    const free = unwrap(await coordinator.collectClaimCandidates({ tenant: TENANT, run: RUN })).shards.length;
    expect(free).toBe(SHARDS - got);
    for (const claim of claims)
      if (!claim.ok)
        expect(claim.error).toMatchObject({ kind: "NoneAvailable", earliestDeadline: expect.any(BigInt) as bigint });
    // A worker that tries again at that time gets one, so every worker gets one in the end.
    for (let left = free; left > 0; left--)
      expect((await coordinator.claim({ tenant: TENANT, run: RUN, worker: worker(1000 + left) })).ok).toBe(true);
  });

  test("a worker that claims many times at once is let through once", async () => {
    coordinator = new Coordinator({ store: new MemoryStore(), clock, claimCooldown: 50n });
    await createRun();
    const claims = await Promise.all(
      Array.from({ length: 4 }, () => coordinator.claim({ tenant: TENANT, run: RUN, worker: worker(1) })),
    );
    expect(claims.filter((claim) => claim.ok).length).toBe(1);
    for (const claim of claims)
      if (!claim.ok) expect(claim.error).toMatchObject({ kind: "Throttled", retryAfter: 60n });
  });

  test("that finds nothing does not make its worker wait", async () => {
    coordinator = new Coordinator({ store: new MemoryStore(), clock, claimCooldown: 50n });
    await createRun();
    const held = unwrap(await coordinator.claimMany({ tenant: TENANT, run: RUN, worker: worker(1), count: SHARDS }));
    expect(await coordinator.claim({ tenant: TENANT, run: RUN, worker: worker(2) })).toMatchObject({
      error: { kind: "NoneAvailable" },
    });
    unwrap(await held[0]!.release());
    expect((await coordinator.claim({ tenant: TENANT, run: RUN, worker: worker(2) })).ok).toBe(true);
  });

  test("gives back what it got where the store breaks on another", async () => {
    const store = new MemoryStore();
    coordinator = new Coordinator({ store, clock });
    await createRun();
    let reads = 0;
    store.readShard = (tenant, key) => {
      if (++reads === 3) throw new TypeError("a defect of the store");
      return MemoryStore.prototype.readShard.call(store, tenant, key);
    };
    await expect(coordinator.claimMany({ tenant: TENANT, run: RUN, worker: worker(1), count: 5 })).rejects.toThrow(
      "a defect of the store",
    );
    expect(unwrap(await coordinator.getRunProgress({ tenant: TENANT, run: RUN })).leased).toBe(0);
  });

  describe("over a store that is waited for and breaks on some", () => {
    let memory: MemoryStore;
    let faults: ScriptedFaults;
    let store: FaultInjectingStore;

    beforeEach(async () => {
      memory = new MemoryStore();
      coordinator = new Coordinator({ store: memory, clock });
      await createRun();
      faults = new ScriptedFaults();
      store = new FaultInjectingStore(memory, faults);
    });

    const refuse = (number: number): never => {
      throw new TypeError(`defect ${number}`);
    };
    const refuseLater = async (number: number) => {
      for (let turn = number; turn < 100; turn++) await Promise.resolve();
      return refuse(number);
    };

    /** Break the second read, and the fourth. */
    function breakReads(breakIt: (number: number) => never | Promise<never>): void {
      let count = 0;
      store.readShard = (tenant, key) => {
        const number = ++count;
        return number === 2 || number === 4 ? breakIt(number) : memory.readShard(tenant, key);
      };
    }

    /** Let candidates come with their records, so that the first thing that is waited for is a write. */
    function listRecords(): void {
      store.listClaimCandidates = (query) => {
        const { candidates, ...rest } = unwrap(memory.listClaimCandidates(query));
        return ok({
          ...rest,
          candidates: candidates.map(({ shard }) => ({
            shard,
            read: unwrap(memory.readShard(TENANT, ShardKey.of(RUN, shard))).shard,
          })),
        });
      };
    }

    const BREAKS: readonly (readonly [string, () => void])[] = [
      ["as it is asked", () => breakReads(refuse)],
      ["later, and last on the first", () => breakReads(refuseLater)],
      ["as it writes", () => (listRecords(), (store.commit = () => refuseLater(2)))],
      [
        "as it is asked again after a conflict",
        () => (listRecords(), (faults.commits = Array.from({ length: 5 }, () => "Conflict")), breakReads(refuseLater)),
      ],
    ];

    test.each(BREAKS)(
      "%s: it fails with the first error, once all have answered, and holds nothing",
      async (_when, breakIt) => {
        breakIt();
        await expect(
          new Coordinator({ store, clock }).claimMany({ tenant: TENANT, run: RUN, worker: worker(1), count: 5 }),
        ).rejects.toThrow("defect 2");
        expect(unwrap(await coordinator.getRunProgress({ tenant: TENANT, run: RUN })).leased).toBe(0);
      },
    );

    test("whose records come with the candidates: it takes what it gets, and others where a write came between", async () => {
      listRecords();
      faults.commits = [undefined, "Conflict", undefined, "UnknownMade"];
      const sessions = unwrap(
        await new Coordinator({ store, clock }).claimMany({ tenant: TENANT, run: RUN, worker: worker(1), count: 5 }),
      );
      expect(new Set(sessions.map((session) => session.shardKey.shard)).size).toBe(5);
      expect(unwrap(await coordinator.getRunProgress({ tenant: TENANT, run: RUN })).leased).toBe(5);
    });
  });
});
