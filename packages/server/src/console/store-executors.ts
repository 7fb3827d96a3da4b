import { protocolError, type HealthWire } from "@gossip/protocol";
import type { Execute } from "../execute/call.ts";
import { isFailure, type ElementContext } from "../execute/element-context.ts";
import type { Ownership } from "../ownership/ownership.ts";
import { consoleOf } from "./shown-run.ts";

type StoreName = "showScopes" | "showHealth" | "checkHealth";

const UNAVAILABLE: HealthWire = { checks: [], fsck: { state: "unavailable", findings: [], isTruncated: false } };

export const STORE_EXECUTORS: { readonly [Name in StoreName]: Execute<Name> } = {
  async showScopes(context) {
    const service = consoleOf(context);
    if (isFailure(service)) return service;
    const { ownership } = context.service;
    if (ownership === undefined) return { ok: { isClustered: false, scopes: [] } };
    const { epoch } = ownership.node.snapshot;
    const scopes = scopesOf(ownership).filter(({ prefix }) => maySee(context, prefix));
    return { ok: { isClustered: true, node: ownership.node.self, epoch: String(epoch), scopes } };
  },

  async showHealth(context) {
    const service = consoleOf(context);
    if (isFailure(service)) return service;
    // Findings name runs of every tenant.
    if (context.principal.tenants !== undefined) return { ok: UNAVAILABLE };
    return { ok: service.options.health?.read() ?? UNAVAILABLE };
  },

  async checkHealth(context) {
    const service = consoleOf(context);
    if (isFailure(service)) return service;
    if (context.principal.tenants !== undefined)
      return context.refuse(protocolError("Forbidden", "the token must be allowed to use every tenant"));
    const { health } = service.options;
    health?.start();
    return { ok: health?.read() ?? UNAVAILABLE };
  },
};

function scopesOf(ownership: Ownership) {
  const { table, migrations } = ownership.node.snapshot;
  const moves = new Map(migrations.live().map((move) => [Buffer.from(move.prefix).toString(), move]));
  return table.scopes().map(({ prefix: bytes, writer }) => {
    const prefix = Buffer.from(bytes).toString();
    const routing = ownership.node.route(bytes);
    const move = moves.get(prefix);
    const address = ownership.addressOf(writer);
    const isMoving = move !== undefined || routing.kind === "Quiesced";
    const isDown = routing.kind === "Unavailable";
    const state = isMoving ? ("moving" as const) : isDown ? ("down" as const) : ("owned" as const);
    return {
      prefix,
      owner: writer,
      ...(address === undefined ? {} : { address }),
      isHere: routing.kind === "Owned",
      state,
      ...(move === undefined ? {} : { move: { id: move.id, target: move.to, phase: "moving" } }),
    };
  });
}

/** A prefix may hold the id of a tenant. Those of others are not shown. */
function maySee({ principal }: ElementContext, prefix: string): boolean {
  const { tenants } = principal;
  if (tenants === undefined) return true;
  return tenants.some((tenant) => `t/${tenant}/`.startsWith(prefix) || prefix.startsWith(`t/${tenant}/`));
}
