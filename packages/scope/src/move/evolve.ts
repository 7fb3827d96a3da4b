import type { JournalEntry } from "./journal-entry.ts";
import { copyMigration, type FinishedMigration, type MigrationState } from "./migration.ts";
import { joinMigrations, raiseFloors, retire, unsettledMove, withWriter, type NodeState } from "./node-state.ts";
import { OwnershipSnapshot } from "../route/ownership-snapshot.ts";
import { indexOf } from "../table/ownership-table.ts";
import { prefixText } from "../text-bytes.ts";

/**
 * The state after a journal entry; `undefined` if the entry cannot follow this state.
 *
 * States change only here. A running node and a node that is rebuilt from its journal both use this function, so
 * they cannot differ after a crash.
 */
export function evolve(state: NodeState | undefined, entry: JournalEntry): NodeState | undefined {
  if (entry.kind === "Opened") return entry.state;
  if (state === undefined) return undefined;
  switch (entry.kind) {
    case "Started":
      return started(state, entry.migration);
    case "Drained":
      return drained(state, entry.id);
    case "Ended":
      return ended(state, entry.migration, entry.epoch);
    case "Reloaded":
      return reloaded(state, entry);
    case "Adopted":
      return adopted(state, entry.snapshot);
  }
}

function started(state: NodeState, migration: MigrationState): NodeState | undefined {
  const { table, migrations, epoch } = state.snapshot;
  const step = migrations.start(migration);
  const isDeclared = indexOf(table).positionOf(migration.prefix) >= 0;
  if (!step.ok || !isDeclared || migration.epoch !== epoch + 1) return undefined;
  return {
    ...state,
    snapshot: new OwnershipSnapshot({ epoch: epoch + 1, table, migrations: step.value.migrations }),
    latest: withLatest(state, migration),
  };
}

function drained(state: NodeState, id: string): NodeState | undefined {
  const move = state.snapshot.migrations.live().find((live) => live.id === id);
  return move === undefined ? undefined : { ...state, drained: new Set(state.drained).add(id) };
}

function ended(state: NodeState, migration: FinishedMigration, epoch: number): NodeState | undefined {
  const { snapshot } = state;
  if (epoch <= snapshot.epoch || unsettledMove(state, migration) !== undefined) return undefined;
  const stillOut = new Set(state.drained);
  stillOut.delete(migration.id);
  const table =
    migration.outcome === "Committed" ? withWriter(snapshot.table, migration.prefix, migration.to) : snapshot.table;
  return {
    ...state,
    snapshot: new OwnershipSnapshot({ epoch, table, migrations: snapshot.migrations.withFinished(migration) }),
    drained: stillOut,
    latest: withLatest(state, migration),
  };
}

function reloaded(
  state: NodeState,
  { table, epoch, isForced }: JournalEntry & { readonly kind: "Reloaded" },
): NodeState | undefined {
  const { snapshot } = state;
  if (epoch !== snapshot.epoch + 1) return undefined;
  if (snapshot.migrations.live().some(({ prefix }) => indexOf(table).positionOf(prefix) < 0)) return undefined;
  return {
    ...state,
    snapshot: new OwnershipSnapshot({ epoch, table, migrations: snapshot.migrations.withoutMigrated() }),
    floors: isForced ? raiseFloors(state, table) : state.floors,
    retired: retire(state.retired, snapshot.table, table),
  };
}

function adopted(state: NodeState, snapshot: OwnershipSnapshot): NodeState | undefined {
  if (snapshot.epoch <= state.snapshot.epoch) return undefined;
  const { epoch, table } = snapshot;
  const migrations = joinMigrations(state.snapshot.migrations, snapshot.migrations);
  return {
    ...state,
    snapshot: new OwnershipSnapshot({ epoch, table, migrations }),
    retired: retire(state.retired, state.snapshot.table, table),
  };
}

// A copy: the caller still holds the entry.
function withLatest({ latest }: NodeState, migration: MigrationState): ReadonlyMap<string, MigrationState> {
  const text = prefixText(migration.prefix);
  return (latest.get(text)?.number ?? 0) > migration.number
    ? latest
    : new Map(latest).set(text, copyMigration(migration));
}
