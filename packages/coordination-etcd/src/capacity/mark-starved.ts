import type { LogicalTime } from "@gossip/contracts";
import type { Compare } from "@gossip/etcd-client";
import type { Cluster } from "../cluster/cluster.ts";
import { deadlineIn } from "../claim/held-leases.ts";
import type { RunAddress } from "../layout/layout.ts";
import { deadlineBytes } from "../layout/shard-indexes.ts";

/** Records until when a worker found nothing to claim. A later time already recorded stays. */
export async function markStarved(cluster: Cluster, mark: RunAddress & { readonly until: LogicalTime }): Promise<void> {
  const { layout } = cluster;
  const key = layout.starved(mark);
  const { found } = await cluster.look([{ get: layout.head(mark), keysOnly: true }, { get: key }]);
  const [head, noted] = [found[0]!.kvs[0], found[1]!.kvs[0]];
  // Many workers find nothing at the same time. Only those with a later time write.
  if (head === undefined || (noted !== undefined && deadlineIn(noted) >= mark.until)) return;

  const value = deadlineBytes(mark.until);
  const put = { put: key, value };
  const isEarlier: Compare =
    noted === undefined
      ? { key, target: "CREATE", is: "EQUAL", revision: 0n }
      : { key, target: "VALUE", is: "LESS", value };
  // If another worker recorded a time in between, that one is about as good.
  await cluster.write({
    compare: [{ key: layout.head(mark), target: "CREATE", is: "GREATER", revision: 0n }, isEarlier],
    success: [put],
  });
}
