// Copies of this package with one fault planted in each, to see that the explorer would find it.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { replaceOnce } from "@gossip/tools/replace-once";
import type { ScopeKit, WorldOptions } from "./move-world.fixture.ts";

export interface Edit {
  readonly file: string;
  /** Source text that must be there once, and what takes its place. */
  readonly find: string;
  readonly replace: string;
}

export interface Fault extends Edit {
  /** What the faulty code does. */
  readonly name: string;
  /** Whether it shows only once ids are forgotten. */
  readonly needsForgetting?: boolean;
  /** In which world it shows, where that is not the plain one. */
  readonly world?: Partial<WorldOptions>;
}

export const FAULTS: readonly Fault[] = [
  {
    name: "the source drains while operations are in flight",
    file: "move/decide-source.ts",
    find: "left > 0 ?",
    replace: "left < 0 ?",
  },
  {
    name: "the snapshot flips the owner at the source before the target has committed",
    file: "move/evolve.ts",
    find: "{ ...state, drained: new Set(state.drained).add(id) }",
    replace: `{ ...state, drained: new Set(state.drained).add(id), snapshot: new OwnershipSnapshot({ epoch: state.snapshot.epoch + 1, table: withWriter(state.snapshot.table, move.prefix, move.to), migrations: state.snapshot.migrations.withFinished({ ...move, outcome: "Committed", endEpoch: state.snapshot.epoch + 1 }) }) }`,
  },
  {
    name: "a moving scope is not quiesced",
    file: "route/scope-router.ts",
    find: "if (moving !== undefined) return moving;",
    replace: "",
  },
  {
    name: "the source aborts alone after it has drained",
    file: "move/decide-end.ts",
    find: `if (state.drained.has(id)) return err({ kind: "AwaitingTarget", target: to });`,
    replace: "",
  },
  {
    name: "the deadline aborts at the source after it has drained",
    file: "move/decide-source.ts",
    find: " && !state.drained.has(id)",
    replace: "",
  },
  {
    name: "a node that is rebuilt has forgotten that it has drained",
    file: "move/ownership-node.ts",
    find: "ok(new OwnershipNode(state, options))",
    replace: "ok(new OwnershipNode({ ...state, drained: new Set() }, options))",
  },
  {
    name: "the target takes an offer that it has turned down",
    file: "move/decide-end.ts",
    find: `if (isFinished(known)) return known.outcome === "Committed" ? ok(undefined) : err({ kind: "Aborted", id });`,
    replace: "",
  },
  {
    name: "the target gives up what it has taken",
    file: "move/decide-end.ts",
    find: `if (isFinished(known)) return known.outcome === "Aborted" ? ok(undefined) : err({ kind: "AlreadyCommitted", id });`,
    replace: "",
  },
  {
    name: "the target does not record a refusal of a move that it does not know",
    file: "move/decide-end.ts",
    find: `return untimely(state, migration) ?? ok(end(state, migration, "Aborted"));`,
    replace: "return ok(undefined);",
  },
  {
    name: "a commit changes the move and not the owner",
    file: "move/evolve.ts",
    find: `migration.outcome === "Committed" ? withWriter(snapshot.table, migration.prefix, migration.to) : snapshot.table`,
    replace: "snapshot.table",
  },
  {
    name: "an abort changes the owner",
    file: "move/evolve.ts",
    find: `migration.outcome === "Committed" ? withWriter`,
    replace: `migration.outcome !== "Committed" ? withWriter`,
  },
  {
    name: "a released operation is not counted down",
    file: "admit/in-flight.ts",
    find: "this.#counter.count -= 1;",
    replace: "",
  },
  {
    name: "an admitted operation is not counted",
    file: "admit/in-flight.ts",
    find: "counter.count += 1;",
    replace: "",
  },
  {
    name: "a reload gives a scope to another node",
    file: "move/decide-table.ts",
    find: "const changes = force ? [] : ownerChanges(state, table, self);",
    replace: "const changes: never[] = []; void force; void self;",
    world: { reloads: 1 },
  },
  {
    name: "a snapshot of another node changes what this one owns",
    file: "move/decide-table.ts",
    find: "const changes = ownerChanges(state, offered.table, self);",
    replace: "const changes: never[] = [];",
    world: { snapshots: "a stranger's" },
  },
  {
    name: "an older snapshot is taken for a newer one",
    file: "move/decide-table.ts",
    find: "if (offered.epoch < own.epoch) return err(stale);",
    replace: `if (offered.epoch < own.epoch) return ok({ kind: "Adopted", snapshot: offered });`,
    world: { snapshots: "each other's" },
  },
  {
    name: "a snapshot of another node ends a move that this one takes part in",
    file: "move/decide-table.ts",
    find: "if (isParty && !(theirs.some((other) => other.id === id) && keepsScope(offered.table, move)))",
    replace: "void isParty; if (theirs.length < 0)",
    world: { snapshots: "a stranger's" },
  },
];

/** Faults that take more than one move to show. */
export const WALK_FAULTS: readonly Fault[] = [
  {
    name: "a source that waits for its target goes by the end of a later move",
    file: "move/node-state.ts",
    find: "live !== undefined && live.id !== id && drained.has(live.id) ? live : undefined",
    replace: "void drained, undefined",
  },
  {
    name: "a target takes a scope in which it knows of other scopes than the source",
    file: "move/decide-end.ts",
    find: `if (innerScopes(state.snapshot.table, prefix) !== migration.inner) return err({ kind: "InnerScopesDiffer" });`,
    replace: "",
  },
  {
    name: "a late offer is taken after a later move",
    file: "move/decide-end.ts",
    find: `return err({ kind: "Superseded", number, latest });`,
    replace: "void latest; void number; return undefined;",
    needsForgetting: true,
  },
  {
    name: "a node forgets whose a dropped scope was",
    file: "move/node-state.ts",
    find: "result.set(prefixText(prefixBytes(scope)), scope.writer);",
    replace: "void scope;",
  },
  {
    name: "a reload takes no notice of what is inside a scope",
    file: "move/owner-changes.ts",
    find: "for (const scope of indexOf(state.snapshot.table).scopes)",
    replace: "for (const scope of indexOf(state.snapshot.table).scopes.slice(0, 0))",
  },
];

export function worldFor({ world }: Fault): WorldOptions {
  return { reloads: 0, snapshots: "none", crashes: 1, admits: { a: 1, b: 1 }, ...world };
}

const SOURCES = fileURLToPath(new URL("..", import.meta.url));

/** No fault: finished moves are forgotten at once, and all that is left to tell an old offer is its number. */
export const FORGETS_AT_ONCE: Edit = {
  file: "limits.ts",
  find: "MAX_REMEMBERED_MIGRATIONS = 1_024",
  replace: "MAX_REMEMBERED_MIGRATIONS = 0",
};

/** The package with the edits made, and a way to be rid of it. */
export async function plant(
  ...edits: readonly Edit[]
): Promise<{ readonly kit: ScopeKit; readonly remove: () => void }> {
  // Inside the package, where its dependencies are found; a folder that is never committed.
  const cache = join(SOURCES, "..", ".cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "fault-"));
  cpSync(SOURCES, folder, { recursive: true, filter: (source) => !/\.(test|test-d|bench|fixture)\.ts$/.test(source) });

  for (const { file, find, replace } of edits) {
    const path = join(folder, file);
    writeFileSync(path, replaceOnce(readFileSync(path, "utf8"), find, replace));
  }
  // oxlint-disable-next-line import/no-dynamic-require -- the copy did not exist when this was written
  const kit = (await import(join(folder, "index.ts"))) as ScopeKit;
  return { kit, remove: () => rmSync(folder, { recursive: true }) };
}
