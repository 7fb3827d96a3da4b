import { assert, assertCount } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";
import { MigrationTable } from "../move/migration-table.ts";
import { indexOf, OwnershipTable } from "../table/ownership-table.ts";
import type { Routing, Unavailable } from "./routing.ts";
import { ScopeRouter, type IsDown } from "./scope-router.ts";

export interface OwnershipSnapshotParts {
  readonly epoch: number;
  readonly table: OwnershipTable;
  readonly migrations: MigrationTable;
}

/** For this package: set by the class below. */
export let routerOf: (snapshot: OwnershipSnapshot) => ScopeRouter;

/**
 * The ownership table, the moves in progress and an epoch, in one immutable value.
 *
 * A reader sees all of a change or none of it: a moving scope always has either a move or an owner.
 * Each change makes a new snapshot with a higher epoch.
 */
export class OwnershipSnapshot {
  readonly epoch: number;
  readonly table: OwnershipTable;
  readonly migrations: MigrationTable;
  readonly #router: ScopeRouter;

  static {
    routerOf = (snapshot) => snapshot.#router;
  }

  /** Every move in progress must be of a scope of the table. */
  constructor(parts: OwnershipSnapshotParts) {
    assertObject(parts, "the parts of a snapshot");
    const { epoch, table, migrations } = parts;
    assertCount(epoch, "epoch", { min: 0, max: Number.MAX_SAFE_INTEGER });
    assert(table instanceof OwnershipTable, "table must be an OwnershipTable");
    assert(migrations instanceof MigrationTable, "migrations must be a MigrationTable");
    const index = indexOf(table);
    const moves = migrations.live();
    for (const { prefix } of moves)
      assert(index.positionOf(prefix) >= 0, "a move in progress must be of a declared scope");
    this.epoch = epoch;
    this.table = table;
    this.migrations = migrations;
    this.#router = new ScopeRouter(index, { epoch, moves });
    Object.freeze(this);
  }

  /** Where a table starts: no moves, epoch 0. */
  static initial(table: OwnershipTable): OwnershipSnapshot {
    return new OwnershipSnapshot({ epoch: 0, table, migrations: MigrationTable.EMPTY });
  }

  /**
   * How node `self` should treat the key: like the table's `route`, but `Quiesced` while its scope moves.
   *
   * Hot: allocates nothing after the first call for a scope.
   */
  route(key: Uint8Array, self: string): Exclude<Routing, Unavailable> {
    return this.#router.route(key, self) as Exclude<Routing, Unavailable>;
  }

  /** How node `self` should treat the key, given which nodes are down. */
  routeWithFallbackState(key: Uint8Array, self: string, isDown: IsDown): Routing {
    return this.#router.routeWithFallbackState(key, self, isDown);
  }
}
