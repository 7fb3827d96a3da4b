import { protocolError, type HealthWire } from "@gossip/protocol";
import type { Execute } from "../execute/call.ts";
import { isFailure, type ElementContext } from "../execute/element-context.ts";
import type { Ownership } from "../ownership/ownership.ts";
import type { ConsoleService } from "./console-service.ts";
import { consoleOf, nowOf } from "./shown-run.ts";

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
    const silentOf = await silentOwners(context, service, scopes);
    return {
      ok: {
        isClustered: true,
        node: ownership.node.self,
        epoch: String(epoch),
        scopes: scopes.map((scope) => ({ ...scope, ...silentOf(scope.address) })),
      },
    };
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

/** Which owners do not answer this node, and when they did last. They own what they own all the same. */
async function silentOwners(
  context: ElementContext,
  { peers }: ConsoleService,
  scopes: readonly { readonly owner: string; readonly address?: string }[],
) {
  const { self } = context.service.ownership!.node;
  const others = new Set(
    scopes.flatMap(({ owner, address = "" }) => (owner === self || address === "" ? [] : [address])),
  );
  const nowMs = Number(await nowOf(context));
  const silent = new Map<string, { isSilent: true; seenAtMs?: number }>();
  await Promise.all(
    [...others].map(async (address) => {
      const seen = await peers?.look(address);
      if (seen === undefined || seen.isAnswering) return;
      const { agoMs } = seen;
      silent.set(address, { isSilent: true, ...(agoMs === undefined ? {} : { seenAtMs: nowMs - Math.round(agoMs) }) });
    }),
  );
  return (address = "") => silent.get(address) ?? {};
}

/** A prefix may hold the id of a tenant. Those of others are not shown. */
function maySee({ principal }: ElementContext, prefix: string): boolean {
  const { tenants } = principal;
  if (tenants === undefined) return true;
  return tenants.some((tenant) => `t/${tenant}/`.startsWith(prefix) || prefix.startsWith(`t/${tenant}/`));
}
