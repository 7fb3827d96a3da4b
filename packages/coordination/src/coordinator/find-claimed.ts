import type { LogicalTime, OpId, RunId, TenantId, WorkerId } from "@gossip/contracts";
import type { AcquireError, ClaimError } from "@gossip/coordination-errors";
import { ok, type Result } from "@gossip/stdx";
import type { WorkerSession } from "../session/worker-session.ts";
import type { ListShardsQuery, ShardPosition } from "../store/store-reads.ts";
import { openSession } from "./acquiring.ts";
import { MAX_PAGE_SIZE } from "./assert-command.ts";
import type { Engine } from "./engine.ts";

/** Which claim, and of how many shards. */
interface EarlierClaim {
  readonly tenant: TenantId;
  readonly run: RunId;
  readonly worker: WorkerId;
  readonly opId?: OpId;
  readonly count: number;
}

const HELD = { status: "Active", isLeased: true } as const;

/**
 * The shards that an earlier claim with the same worker and op id acquired, each in a session.
 *
 * Every shard of a claim is acquired with the claim's op id, which the lease remembers. So the leases themselves show
 * what an earlier claim did, and no other record of it is needed.
 */
export async function findClaimed(
  engine: Engine,
  { tenant, run, worker, opId, count }: EarlierClaim,
  now: LogicalTime,
): Promise<Result<readonly WorkerSession[], ClaimError>> {
  if (opId === undefined) return ok([]);
  const sessions: WorkerSession[] = [];
  let after: ShardPosition | undefined;
  do {
    const query: ListShardsQuery = { tenant, run, filter: HELD, limit: MAX_PAGE_SIZE, after, now };
    const page = await engine.read({ operation: "claim", count: 0 }, () => engine.store.listShards(query));
    if (!page.ok) return page;
    const { items, next } = page.value;
    for (const { shard, lease } of items) {
      if (lease?.owner !== worker || lease.opId !== opId) continue;
      const opened = await openSession(engine, { tenant, key: { run, shard }, worker, opId });
      if (opened.ok) sessions.push(opened.value);
      else if (!isPassed(opened.error)) return { ok: false, error: opened.error };
    }
    after = next;
  } while (after !== undefined && sessions.length < count);
  return ok(sessions.slice(0, count));
}

type Passed = Extract<AcquireError, { readonly kind: "AlreadyLeased" | "ShardTerminal" | "ShardNotFound" }>;

/** Whether the shard left the worker's hands since it was listed. */
function isPassed(error: AcquireError): error is Passed {
  return error.kind === "AlreadyLeased" || error.kind === "ShardTerminal" || error.kind === "ShardNotFound";
}
