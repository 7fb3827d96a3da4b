import type { WorkerSession } from "@gossip/coordination";
import type { Item } from "../sources/source.ts";
import type { ItemContext } from "./item-context.ts";
import type { ShardHost } from "./shard-host.ts";
import { writeFenceOf } from "./write-fence.ts";

/** The context that all first attempts within a hold share. */
export function makeItemContext<I extends Item, R>(
  host: ShardHost<I, R>,
  session: WorkerSession,
  signal: AbortSignal,
): ItemContext {
  const shard = {
    key: session.shardKey,
    get spec() {
      return session.spec;
    },
  };
  const writeFence = writeFenceOf(session.lease, BigInt(host.timing.leaseMs));
  return { writeFence, fence: session.lease.fence, signal, shard, worker: host.settings.worker, attempt: 1 };
}
