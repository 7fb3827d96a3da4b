// Sessions that checkpoint as fast as they can, each as soon as its last checkpoint is durable.
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId, WorkerId } from "@gossip/contracts";
import type { CoordinatorApi, WorkerSession } from "@gossip/coordination";
import { unwrap } from "@gossip/stdx";

const tenant = TenantId.fromBytes(new Uint8Array(32).fill(1));
const run = RunId.fromRaw(1n);
const encoder = new TextEncoder();

/** A key of 33 bytes, as a file's path or a row's id is: text. */
function keyOf(index: number, at: number): Uint8Array {
  return encoder.encode(`orders/${String(index).padStart(8, "0")}/${String(at).padStart(17, "0")}`);
}

export class BenchSessions {
  readonly #sessions: readonly WorkerSession[];
  #step = 0;

  /** A run with a shard for each session; the sessions are spread over the coordinators. */
  static async open(coordinators: readonly CoordinatorApi[], count: number): Promise<BenchSessions> {
    const shards = Array.from({ length: count }, (_, index) => ({
      shard: ShardId.fromRaw(BigInt(index)),
      spec: ShardSpec.withRange({ start: keyOf(index, 0), end: keyOf(index + 1, 0) }),
      cursor: Cursor.initial(),
    }));
    const config = { leaseDuration: 600_000n };
    unwrap(await coordinators[0]!.createRunWithShards({ tenant, run, config, shards, opId: OpId.fromRaw(1n) }));
    const sessions = await Promise.all(
      shards.map(async ({ shard }, index) => {
        const number = index % coordinators.length;
        const worker = WorkerId.fromRaw(BigInt(number + 1));
        return unwrap(await coordinators[number]!.openSession({ tenant, key: { run, shard }, worker }));
      }),
    );
    return new BenchSessions(sessions);
  }

  private constructor(sessions: readonly WorkerSession[]) {
    this.#sessions = sessions;
  }

  /** Every session makes `steps` checkpoints that renew, one after the other. */
  async checkpoint(steps: number): Promise<void> {
    const first = this.#step + 1;
    this.#step += steps;
    const go = async (session: WorkerSession, index: number): Promise<void> => {
      for (let at = first; at < first + steps; at++)
        unwrap(await session.checkpoint(Cursor.withLastKey(keyOf(index, at)), { renew: true }));
    };
    await Promise.all(this.#sessions.map(go));
  }
}
