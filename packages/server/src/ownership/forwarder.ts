import type { ElementResult } from "@gossip/protocol";
import type { IncomingMessage } from "node:http";
import type { Failure } from "../execute/element-context.ts";
import type { PeerLinks } from "./peer-links.ts";

/** A response of another node, to be passed on. */
export interface Forwarded {
  readonly status: number;
  readonly json: unknown;
}

/** How long another node may be silent before its part of a request counts as refused. */
const TIMEOUT_MS = 10_000;

/** Whether the client wants this node to ask the owner for it. */
export function wantsForwarding({ headers }: IncomingMessage): boolean {
  return headers["gossip-forward"] === "1";
}

/**
 * Passes requests on to the node that owns their run, once.
 *
 * The owner authenticates the client by the client's own token, so that no node acts on what another says of a client.
 */
export class Forwarder {
  readonly #links: PeerLinks;

  constructor(links: PeerLinks) {
    this.#links = links;
  }

  /** The owner's response to a call, or `undefined` if the failure is not that of a wrong node or the owner is silent. */
  async call(request: IncomingMessage, body: unknown, failure: Failure): Promise<Forwarded | undefined> {
    const owner = ownerOf(failure);
    return owner === undefined ? undefined : this.#send(request, { owner, body, waitMs: 0 });
  }

  /** The results with those of misdirected elements replaced by their owners' results. */
  async batch(
    request: IncomingMessage,
    { elements, results, waitMs }: BatchToForward,
  ): Promise<readonly ElementResult[]> {
    const byOwner = new Map<string, number[]>();
    results.forEach((result, index) => {
      const owner = "error" in result ? ownerOf(result) : undefined;
      if (owner !== undefined) byOwner.set(owner, [...(byOwner.get(owner) ?? []), index]);
    });
    if (byOwner.size === 0) return results;
    const merged = [...results];
    await Promise.all(
      [...byOwner].map(async ([owner, indexes]) => {
        const body = {
          elements: indexes.map((index) => elements[index]),
          ...(waitMs > 0 ? { waitMs } : {}),
        };
        const reply = await this.#send(request, { owner, body, waitMs });
        const { results: theirs } = (reply?.json ?? {}) as { readonly results?: readonly ElementResult[] };
        if (reply?.status !== 200 || theirs?.length !== indexes.length) return;
        indexes.forEach((index, position) => (merged[index] = theirs[position]!));
      }),
    );
    return merged;
  }

  async #send(
    { method = "GET", url = "/", headers }: IncomingMessage,
    { owner, body, waitMs }: { readonly owner: string; readonly body: unknown; readonly waitMs: number },
  ): Promise<Forwarded | undefined> {
    const { authorization } = headers;
    const reply = await this.#links.send(owner, {
      method,
      path: url,
      headers: {
        ...(authorization === undefined ? {} : { authorization }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      body: body === undefined ? undefined : Buffer.from(JSON.stringify(body)),
      timeoutMs: TIMEOUT_MS + waitMs,
    });
    if (reply === undefined) return undefined;
    try {
      return { status: reply.status, json: JSON.parse(reply.body.toString("utf8")) as unknown };
    } catch {
      return undefined;
    }
  }
}

export interface BatchToForward {
  readonly elements: readonly unknown[];
  readonly results: readonly ElementResult[];
  readonly waitMs: number;
}

function ownerOf({ error }: Failure): string | undefined {
  return error.kind === "Misdirected" && typeof error["owner"] === "string" ? error["owner"] : undefined;
}
