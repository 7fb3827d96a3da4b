import type { Cluster } from "./cluster.ts";
import type { KnownCapacities } from "./known-capacities.ts";
import type { RunHeads } from "./run-heads.ts";
import type { KnownWindows } from "./windows.ts";

/** What operations of a store share: the cluster, and what is known of the runs in it. */
export interface StoreParts {
  readonly cluster: Cluster;
  readonly heads: RunHeads;
  readonly windows: KnownWindows;
  readonly capacities: KnownCapacities;
}
