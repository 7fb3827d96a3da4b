import type { Cluster } from "./cluster/cluster.ts";
import type { KnownCapacities } from "./capacity/known-capacities.ts";
import type { RunHeads } from "./read/run-heads.ts";
import type { KnownWindows } from "./claim/windows.ts";

/** What operations of a store share: the cluster, and what is known of the runs in it. */
export interface StoreParts {
  readonly cluster: Cluster;
  readonly heads: RunHeads;
  readonly windows: KnownWindows;
  readonly capacities: KnownCapacities;
}
