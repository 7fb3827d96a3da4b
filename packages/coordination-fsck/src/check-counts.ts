import type { RunId, TenantId } from "@gossip/contracts";
import type { RunAddress, FsckFinding } from "./finding.ts";
import type { CountScope, StoredCount } from "./fsck-source.ts";
import { COUNTED_STATUSES, type StatusCounts } from "./status-counts.ts";

interface CountedScope {
  readonly scope: CountScope;
  readonly tenant: TenantId | undefined;
  readonly run: RunId | undefined;
  counted: number;
  stored: number | undefined;
}

/** Compares the counts that a store keeps with the shards that are there. Where it has none, it says that there are none. */
export class CountCheck {
  readonly #scopes = new Map<string, CountedScope>();
  total = 0;

  /** A shard is there. */
  add({ tenant, run }: RunAddress): void {
    this.total++;
    this.#scope("Run", tenant, run).counted++;
    this.#scope("Tenant", tenant, undefined).counted++;
    this.#scope("Total", undefined, undefined).counted++;
  }

  /** A count is kept. */
  see({ scope, tenant, run, count }: StoredCount): void {
    this.#scope(scope, tenant, run).stored = count;
  }

  /** Differences in the scopes of which the store keeps counts. */
  *findings(keptScopes: ReadonlySet<CountScope>): Generator<FsckFinding> {
    for (const { scope, tenant, run, counted, stored = 0 } of this.#scopes.values()) {
      if (keptScopes.has(scope) && stored !== counted)
        yield { kind: "WrongCount", scope, tenant, run, stored, counted };
    }
  }

  #scope(scope: CountScope, tenant: TenantId | undefined, run: RunId | undefined): CountedScope {
    const name = `${scope} ${tenant ?? ""} ${run ?? ""}`;
    let counted = this.#scopes.get(name);
    if (counted === undefined) {
      counted = { scope, tenant, run, counted: 0, stored: undefined };
      this.#scopes.set(name, counted);
    }
    return counted;
  }
}

/** Compares the status counts of a run with those of its shards. */
export function* checkStatusCounts(
  { tenant, run }: RunAddress,
  stored: StatusCounts,
  counted: StatusCounts,
): Generator<FsckFinding> {
  for (const scope of COUNTED_STATUSES) {
    if (stored[scope] !== counted[scope])
      yield { kind: "WrongCount", scope, tenant, run, stored: stored[scope], counted: counted[scope] };
  }
}
