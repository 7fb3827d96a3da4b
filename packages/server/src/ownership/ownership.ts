import type { RunId, TenantId } from "@gossip/contracts";
import { protocolError, type ProtocolError } from "@gossip/protocol";
import { renderReply, type Admission, type OwnershipNode, type Routing } from "@gossip/scope";
import { err, startsWith, type Result } from "@gossip/stdx";
import { routingKey, tenantRoutingPrefix } from "./routing-key.ts";

/** How long a client should wait before it asks again about a scope that is moving. Moves take milliseconds. */
const MOVING_RETRY_MS = 100;
/** The same for a scope whose node is down: an operator must act. */
const DOWN_RETRY_MS = 1_000;

/** Whether this node may write scopes that have a fallback. */
export interface WriterFence {
  readonly isValid: boolean;
}

/**
 * Which runs this node may execute requests for.
 *
 * Without one, a single node owns everything.
 */
export class Ownership {
  readonly node: OwnershipNode;
  /** Without one, scopes with a fallback are owned like the others. */
  fence: WriterFence | undefined;
  readonly #listeners = new Set<() => void>();
  #addresses: ReadonlyMap<string, string>;

  constructor(node: OwnershipNode, addresses: ReadonlyMap<string, string>) {
    this.node = node;
    this.#addresses = addresses;
  }

  /** Permission to execute something for a run until it is released, or what to answer instead. */
  admit(tenant: TenantId, run: RunId): Result<Admission, ProtocolError> {
    const admitted = this.node.admit(routingKey(tenant, run));
    if (!admitted.ok) return err(this.#refusal(admitted.error));
    const fenced = this.#fenced(admitted.value.verdict);
    if (fenced.kind !== "Unavailable") return admitted;
    admitted.value.release();
    return err(this.#refusal(fenced));
  }

  route(tenant: TenantId, run: RunId): Routing {
    return this.routeKey(routingKey(tenant, run));
  }

  /** How this node treats a key or the prefix of a scope. */
  routeKey(key: Uint8Array | string): Routing {
    return this.#fenced(this.node.route(key));
  }

  isOwned(tenant: TenantId, run: RunId): boolean {
    return this.route(tenant, run).kind === "Owned";
  }

  /** Whether this node owns any scope now. */
  get ownsAny(): boolean {
    return this.node.snapshot.table.scopes().some(({ prefix }) => this.routeKey(prefix).kind === "Owned");
  }

  /**
   * The addresses of the other nodes that own runs of a tenant, or of any tenant. A list is incomplete while one of the
   * scopes moves, so it is refused.
   */
  otherOwners(tenant?: TenantId): Result<readonly string[], ProtocolError> {
    const owners = new Set<string>();
    for (const prefix of this.#prefixesOf(tenant)) {
      const routing = this.routeKey(prefix);
      if (routing.kind === "Misdirected") owners.add(this.addressOf(routing.target) ?? routing.target);
      else if (routing.kind !== "Owned") return err(this.#refusal(routing));
    }
    return { ok: true, value: [...owners].sort() };
  }

  /** Whether this node may have runs of a tenant. */
  ownsSomeOf(tenant: TenantId): boolean {
    return this.#prefixesOf(tenant).some((prefix) => this.routeKey(prefix).kind === "Owned");
  }

  addressOf(node: string): string | undefined {
    return this.#addresses.get(node);
  }

  get addresses(): ReadonlyMap<string, string> {
    return this.#addresses;
  }

  /** Use other addresses from now on. */
  follow(addresses: ReadonlyMap<string, string>): void {
    this.#addresses = addresses;
  }

  /** Call `listener` after each change of what this node owns. Returns a function that stops it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Call this after a change was applied to the node. */
  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  /** The scopes that hold runs of a tenant: the one around its keys, and those inside. */
  #prefixesOf(tenant: TenantId | undefined): readonly Uint8Array[] {
    const { table } = this.node.snapshot;
    const prefixes = table.scopes().map(({ prefix }) => prefix);
    if (tenant === undefined) return prefixes;
    const all = Buffer.from(tenantRoutingPrefix(tenant));
    const around = table.lookup(all)?.prefix;
    return [...(around === undefined ? [] : [around]), ...prefixes.filter((prefix) => startsWith(prefix, all))];
  }

  /** A scope with a fallback may be written only while the fence says that the fallback has not taken over. */
  #fenced(routing: Routing): Routing {
    if (routing.kind !== "Owned" || routing.scope.fallback === undefined || this.fence?.isValid !== false)
      return routing;
    const { scope, epoch } = routing;
    return { kind: "Unavailable", scope, epoch, writer: scope.writer };
  }

  #refusal(routing: Routing): ProtocolError {
    const message = renderReply(routing, (node) => this.addressOf(node)) ?? NO_OWNER;
    switch (routing.kind) {
      case "Misdirected":
        return protocolError("Misdirected", message, { owner: this.addressOf(routing.target) ?? routing.target });
      case "Quiesced":
        return protocolError("Quiesced", message, { retryAfterMs: MOVING_RETRY_MS });
      case "Unavailable":
        return protocolError("Unavailable", message, { retryAfterMs: DOWN_RETRY_MS });
      case "Owned":
      case "Unknown":
        return protocolError("Unowned", message);
    }
  }
}

const NO_OWNER = "no scope of the cluster file covers this run";
