// What the comparisons with other systems do on our side: ten workers of one process claim shards, many at a time, and complete them;
// sessions checkpoint, each at its own pace.
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import {
  Coordinator,
  RANGE_EXHAUSTED,
  systemClock,
  type CoordinationStore,
  type CoordinatorApi,
  type WorkerSession,
} from "@gossip/coordination";
import { assert, unwrap } from "@gossip/stdx";
import { BURST, JOBS, WORKERS } from "./sizes.ts";

const tenant = TenantId.fromBytes(new Uint8Array(32).fill(1));
const config = { leaseDuration: 60_000n };

const encoder = new TextEncoder();

/** A key of 33 bytes, as a file's path or a row's id is: text. */
function keyOf(index: number, at: number): Uint8Array {
  return encoder.encode(`orders/${String(index).padStart(8, "0")}/${String(at).padStart(17, "0")}`);
}

function shardsUpTo(count: number): { readonly shard: ShardId; readonly spec: ShardSpec; readonly cursor: Cursor }[] {
  return Array.from({ length: count }, (_, index) => ({
    shard: ShardId.fromRaw(BigInt(index)),
    spec: ShardSpec.withRange({ start: keyOf(index, 0), end: keyOf(index + 1, 0) }),
    cursor: Cursor.initial(),
  }));
}

export class OurWork {
  readonly #coordinator: CoordinatorApi;
  readonly #claimCount: number;
  #run = RunId.fromRaw(0n);
  #step = 0;

  /** Over a store in this process, or over a client of a service. `claimCount`: how many shards a worker claims at a time. */
  constructor(over: CoordinationStore | CoordinatorApi, { claimCount = BURST }: { readonly claimCount?: number } = {}) {
    this.#claimCount = claimCount;
    this.#coordinator = "commit" in over ? new Coordinator({ store: over, clock: systemClock(Date.now) }) : over;
  }

  /** A new run in the place of the one before. */
  async prepare(count: number = JOBS): Promise<void> {
    if (this.#run > 0n) {
      unwrap(await this.#coordinator.completeRun({ tenant, run: this.#run, opId: OpId.random() }));
      unwrap(await this.#coordinator.deleteRun({ tenant, run: this.#run }));
    }
    this.#run = RunId.fromRaw(this.#run + 1n);
    unwrap(
      await this.#coordinator.createRunWithShards({
        tenant,
        run: this.#run,
        config,
        shards: shardsUpTo(count),
        opId: OpId.random(),
      }),
    );
  }

  /** Claim and complete all of the run. */
  async drain(): Promise<void> {
    let done = 0;
    const work = async (number: number): Promise<void> => {
      const worker = WorkerId.fromRaw(BigInt(number + 1));
      while (done < JOBS) {
        const claimed = await this.#coordinator.claimMany({ tenant, run: this.#run, worker, count: this.#claimCount });
        if (!claimed.ok) {
          assert(claimed.error.kind === "NoneAvailable", "nothing fails");
          return;
        }
        await Promise.all(claimed.value.map(async (session) => void unwrap(await session.complete(RANGE_EXHAUSTED))));
        done += claimed.value.length;
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, (_, number) => work(number)));
    assert(done === JOBS, "every shard is completed once");
  }

  async open(count: number): Promise<readonly WorkerSession[]> {
    await this.prepare(count);
    const worker = WorkerId.fromRaw(1n);
    return Promise.all(
      shardsUpTo(count).map(async ({ shard }) =>
        unwrap(await this.#coordinator.openSession({ tenant, key: { run: this.#run, shard }, worker })),
      ),
    );
  }

  /** Fenced, idempotent and durable, by the time that it settles. With `renew` it also moves the deadline of the lease. */
  async checkpoint(sessions: readonly WorkerSession[], steps: number, { renew = false } = {}): Promise<void> {
    const first = this.#step + 1;
    this.#step += steps;
    const go = async (session: WorkerSession, index: number): Promise<void> => {
      for (let at = first; at < first + steps; at++)
        unwrap(await session.checkpoint(Cursor.withLastKey(keyOf(index, at)), { renew }));
    };
    await Promise.all(sessions.map(go));
  }
}
