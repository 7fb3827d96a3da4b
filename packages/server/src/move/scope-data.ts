import type { RunId, TenantId } from "@gossip/contracts";
import type { OwnershipNode } from "@gossip/scope";
import { equalBytes, type Result } from "@gossip/stdx";
import { routingKey } from "../ownership/routing-key.ts";

/** Which runs are meant. */
export type IncludesRun = (tenant: TenantId, run: RunId) => boolean;

/** The records of an embedded store, as a move needs them. `LmdbStore.transfer` returns one. */
export interface ScopeData {
  /** The records in frames. The same every time, as long as nothing is written. */
  frames(includes: IncludesRun): Iterable<Uint8Array>;
  /** Write a frame, durably. Returns `false` if it holds anything else than these runs. */
  stage(frame: Uint8Array, includes: IncludesRun): Promise<Result<boolean, unknown>>;
  /** Remove the records. Returns `false` if `isStopped` ended it. */
  purge(includes: IncludesRun, isStopped: () => boolean): Promise<Result<boolean, unknown>>;
  /** How many faults there are in the records. */
  check(includes: IncludesRun): Promise<Result<number, unknown>>;
}

/** The runs of exactly this scope: those of a scope nested in it belong to another owner. */
export function runsOfScope(node: OwnershipNode, prefix: Uint8Array): IncludesRun {
  return (tenant, run) => {
    const scope = node.snapshot.table.lookup(Buffer.from(routingKey(tenant, run)));
    return scope !== undefined && equalBytes(scope.prefix, prefix);
  };
}
