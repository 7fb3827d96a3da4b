import { protocolError, WireReader, type CallName, type MoveWire, type ScopeWire } from "@gossip/protocol";
import { matchedPrefix, type Decision, type MigrationState } from "@gossip/scope";
import type { RunId } from "@gossip/contracts";
import type { Execute } from "../execute/call.ts";
import { isFailure, type ElementContext, type Failure } from "../execute/element-context.ts";
import type { ClusterControl } from "./cluster-control.ts";

type ScopeName = Extract<
  CallName,
  "listScopes" | "routeRun" | "moveScope" | "abortMove" | "markDown" | "markUp" | "reloadScopes"
>;

/** The calls of a cluster's operators. */
export const SCOPE_EXECUTORS: { readonly [Name in ScopeName]: Execute<Name> } = {
  async listScopes(context) {
    const cluster = clusterOf(context);
    if (isFailure(cluster)) return cluster;
    const { self, ownership } = cluster;
    const { epoch, table, migrations } = ownership.node.snapshot;
    const scopes = table.scopes().map(({ prefix, writer, fallback }): ScopeWire => {
      const { kind: state } = ownership.routeKey(prefix);
      return { prefix: textOf(prefix), writer, ...(fallback === undefined ? {} : { fallback }), state };
    });
    const moves = [...migrations.live(), ...migrations.finished()].map((move) => moveOf(cluster, move));
    const nodes = [...ownership.addresses].map(([name, address]) => ({ name, address }));
    return { ok: { node: self, epoch, nodes, scopes: scopes.sort(byPrefix), moves } };
  },

  async routeRun(context, { query }) {
    const cluster = clusterOf(context);
    if (isFailure(cluster)) return cluster;
    const tenant = context.resolveTenant(query.tenant);
    if (isFailure(tenant)) return tenant;
    const { ownership } = cluster;
    const routing = ownership.route(tenant, new WireReader().id<RunId>(query.run));
    const prefix = matchedPrefix(routing);
    const owner = prefix && ownership.node.snapshot.table.lookup(prefix)?.writer;
    const address = owner === undefined ? undefined : ownership.addressOf(owner);
    return {
      ok: {
        kind: routing.kind,
        ...(prefix === undefined ? {} : { prefix: textOf(prefix) }),
        ...(owner === undefined ? {} : { owner }),
        ...(address === undefined ? {} : { address }),
        epoch: ownership.node.snapshot.epoch,
      },
    };
  },

  async moveScope(context, { body }) {
    const cluster = clusterOf(context);
    if (isFailure(cluster)) return cluster;
    const moved = await cluster.move(body);
    if (moved.ok) return { ok: { id: body.id, outcome: outcomeOf(moved.value) } };
    const { error } = moved;
    // The owner moves a scope: the caller asks it instead.
    if (error.kind === "NotOwner") {
      const owner = cluster.ownership.addressOf(error.owner) ?? error.owner;
      return context.refuse(protocolError("Misdirected", `MISDIRECTED writer is ${owner}`, { owner }));
    }
    return context.refuse(protocolError("MoveRefused", MOVE_REFUSALS[error.kind] ?? error.kind));
  },

  async abortMove(context, { body }) {
    const cluster = clusterOf(context);
    if (isFailure(cluster)) return cluster;
    const decision = await cluster.abort(body.id);
    const isKnown = cluster.ownership.node.snapshot.migrations.get(body.id) !== undefined;
    if (decision === undefined && !isKnown)
      return context.refuse(protocolError("MoveRefused", "this node knows no such move"));
    return { ok: { id: body.id, outcome: outcomeOf(decision) } };
  },

  async markDown(context, { body }) {
    const cluster = clusterOf(context);
    if (isFailure(cluster)) return cluster;
    const taken = await cluster.markDown(body.node);
    if (taken === undefined)
      return context.refuse(protocolError("MoveRefused", "this node has no scope with a fallback, or no shared store"));
    return { ok: { scopes: [...taken] } };
  },

  async markUp(context, { body }) {
    const cluster = clusterOf(context);
    if (isFailure(cluster)) return cluster;
    return { ok: { wasDown: await cluster.markUp(body.node) } };
  },

  async reloadScopes(context) {
    const cluster = clusterOf(context);
    if (isFailure(cluster)) return cluster;
    const reloaded = await cluster.reload();
    if (reloaded.ok) return { ok: { epoch: reloaded.value } };
    const { error } = reloaded;
    const reason =
      error.kind === "InvalidFile"
        ? error.problem
        : error.kind === "OwnerChanged"
          ? "a new scope would give runs to another node without a move: declare it for their owner, then move it"
          : "a scope that moves must stay in the file until its move is over";
    return context.refuse(protocolError("MoveRefused", reason));
  },
};

/** Why a move is refused, for an operator. */
const MOVE_REFUSALS: Readonly<Record<string, string>> = {
  UndeclaredScope: "no scope of the cluster file has exactly this prefix",
  SameNode: "the scope is at this node already",
  AlreadyMigrating: "another move of this scope is in progress",
  MigrationIdConflict: "this id is that of another move",
  Aborted: "the move was aborted",
  AlreadyCommitted: "the move is over",
  UnknownNode: "the cluster file has no node with this name",
  TargetSilent: "the target does not answer, or has another cluster token",
  OtherNode: "another node answers at the target's address",
  OtherOracle: "the target has another clock: give both nodes the same --tso",
  OtherStore: "the target has another kind of store",
};

function clusterOf(context: ElementContext): ClusterControl | Failure {
  return (
    context.service.cluster ?? context.refuse(protocolError("NotInCluster", "this node runs without a cluster file"))
  );
}

function outcomeOf(decision: Decision | undefined): "Committed" | "Aborted" | "Pending" {
  return decision?.migration.outcome ?? "Pending";
}

function moveOf({ ownership }: ClusterControl, move: MigrationState): MoveWire {
  const { id, prefix, from, to } = move;
  const decision = ownership.node.decisionFor(id);
  const state = decision?.migration.outcome ?? (ownership.node.offerFor(id) === undefined ? "Started" : "Drained");
  return { id, prefix: textOf(prefix), from, to, state };
}

/** A prefix of routing keys is ASCII. */
function textOf(prefix: Uint8Array): string {
  return Buffer.from(prefix).toString("latin1");
}

function byPrefix(a: ScopeWire, b: ScopeWire): number {
  return a.prefix < b.prefix ? -1 : 1;
}
