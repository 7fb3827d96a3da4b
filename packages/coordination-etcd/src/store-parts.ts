import type { Cluster } from "./cluster/cluster.ts";
import type { KnownCapacities } from "./capacity/known-capacities.ts";
import type { RunHeads } from "./read/run-heads.ts";
import type { KnownWindows } from "./claim/windows.ts";

/** State shared by the operations of a store: the cluster and the caches about its runs. */
export interface StoreParts {
  readonly cluster: Cluster;
  readonly heads: RunHeads;
  readonly windows: KnownWindows;
  readonly capacities: KnownCapacities;
}
