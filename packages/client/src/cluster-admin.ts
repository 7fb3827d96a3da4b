import type { AnyCoordError } from "@gossip/coordination-errors";
import type { BodyOf, QueryOf, ResponseOf } from "@gossip/protocol";
import type { Result } from "@gossip/stdx";
import { Caller } from "./calls/caller.ts";
import { OwnerBook } from "./calls/owners.ts";
import { makeSettings, type GossipClientOptions } from "./client-options.ts";

type Answer<
  Name extends "listScopes" | "routeRun" | "moveScope" | "abortMove" | "markDown" | "markUp" | "reloadScopes",
> = Promise<Result<ResponseOf<Name>, AnyCoordError>>;

/**
 * What an operator of a cluster asks a node. The token needs the role admin.
 *
 * A call rejects with `ServiceRefused` if the node refuses it; the message has the reason.
 */
export class ClusterAdmin {
  readonly #owners: OwnerBook;
  readonly #caller: Caller;

  constructor(options: GossipClientOptions) {
    const settings = makeSettings(options);
    this.#owners = new OwnerBook(settings, settings.otherUrls);
    this.#caller = new Caller(this.#owners, settings);
  }

  listScopes(): Answer<"listScopes"> {
    return this.#caller.call("listScopes", {});
  }

  routeRun(query: QueryOf<"routeRun">): Answer<"routeRun"> {
    return this.#caller.call("routeRun", { query });
  }

  /** Move a scope, at the node that owns it. Repeat it with the same id if the outcome is unknown. */
  moveScope(body: BodyOf<"moveScope">): Answer<"moveScope"> {
    return this.#caller.call("moveScope", { body });
  }

  abortMove(body: BodyOf<"abortMove">): Answer<"abortMove"> {
    return this.#caller.call("abortMove", { body });
  }

  markDown(body: BodyOf<"markDown">): Answer<"markDown"> {
    return this.#caller.call("markDown", { body });
  }

  markUp(body: BodyOf<"markUp">): Answer<"markUp"> {
    return this.#caller.call("markUp", { body });
  }

  reloadScopes(): Answer<"reloadScopes"> {
    return this.#caller.call("reloadScopes", { body: {} });
  }

  close(): void {
    this.#owners.close();
  }
}
