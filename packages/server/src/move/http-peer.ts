import { decodeMessage, encodeMessage, type Decision, type MigrationState, type Offer } from "@gossip/scope";
import type { PeerLinks } from "../ownership/peer-links.ts";
import { encodeFrameMessage } from "./frame-message.ts";
import { parseHello, type Hello } from "./hello.ts";
import type { Peer, PeerAnswer } from "./peer.ts";
import type { StagingPeer } from "./shipper.ts";
import type { Frame, StageAnswer } from "./staging.ts";

/** Paths of the calls between nodes. */
export const CLUSTER_PATH = "/cluster/v1/";

/** How long another node may take to write its journal. */
const TIMEOUT_MS = 10_000;

export interface HttpPeerOptions {
  readonly links: PeerLinks;
  readonly address: string;
  /** The cluster's token. */
  readonly token: string | undefined;
}

/** Another node, over HTTP. */
export class HttpPeer implements Peer, StagingPeer {
  readonly #options: HttpPeerOptions;

  constructor(options: HttpPeerOptions) {
    this.#options = options;
  }

  offer(offer: Offer): Promise<PeerAnswer> {
    return this.#ask("offer", encodeMessage(offer));
  }

  abort(migration: MigrationState): Promise<PeerAnswer> {
    return this.#ask("abort", encodeMessage({ kind: "Offer", migration }));
  }

  async inform(decision: Decision): Promise<void> {
    await this.post("inform", Buffer.from(encodeMessage(decision)));
  }

  begin(migration: MigrationState): Promise<StageAnswer | undefined> {
    return this.#askStaging("stage-begin", Buffer.from(encodeMessage({ kind: "Offer", migration })));
  }

  stage(frame: Frame): Promise<StageAnswer | undefined> {
    return this.#askStaging("stage", encodeFrameMessage(frame));
  }

  complete(id: string, frames: number): Promise<StageAnswer | undefined> {
    return this.#askStaging("stage-end", Buffer.from(JSON.stringify({ id, frames })));
  }

  /** What this node needs to know of the other before a move; `undefined` if it does not answer. */
  async hello(): Promise<Hello | undefined> {
    const reply = await this.post("hello", new Uint8Array(0));
    return reply?.status === 200 ? parseHello(reply.body.toString("utf8")) : undefined;
  }

  /** Send bytes to one of the paths of a node. `undefined` if there is no answer. */
  post(name: string, body: Uint8Array) {
    const { links, address, token } = this.#options;
    return links.send(address, {
      method: "POST",
      path: `${CLUSTER_PATH}${name}`,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      body,
      timeoutMs: TIMEOUT_MS,
    });
  }

  async #askStaging(name: string, body: Uint8Array): Promise<StageAnswer | undefined> {
    const reply = await this.post(name, body);
    const text = reply?.body.toString("utf8") ?? "";
    if (reply?.status === 409) return { kind: "Refused", reason: text };
    return reply?.status === 200 ? (JSON.parse(text) as StageAnswer) : undefined;
  }

  async #ask(name: string, message: string): Promise<PeerAnswer> {
    const reply = await this.post(name, Buffer.from(message));
    if (reply === undefined) return SILENT;
    const text = reply.body.toString("utf8");
    if (reply.status === 200) {
      const decision = decodeMessage(text);
      return decision.ok && "kind" in decision.value && decision.value.kind === "Decision"
        ? { kind: "Decided", decision: decision.value }
        : SILENT;
    }
    // Any other status is that of a node that could not decide: not ready, another token, another version.
    return reply.status === 409 ? { kind: "Refused", reason: text } : SILENT;
  }
}

const SILENT: PeerAnswer = { kind: "Silent" };
