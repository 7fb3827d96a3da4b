import type { PeerLinks } from "./peer-links.ts";

/** When another node answered last. */
export interface PeerSeen {
  readonly isAnswering: boolean;
  /** How long ago its last answer came. `undefined` if this node has had none. */
  readonly agoMs: number | undefined;
}

export interface PeerSightOptions {
  readonly links: Pick<PeerLinks, "send">;
  readonly nowMs: () => number;
}

interface Peer {
  readonly askedMs: number;
  readonly answering: Promise<boolean>;
}

/** How long a node may take to answer. The page that asks waits for it. */
const PATIENCE_MS = 1500;
/** Several pages share an answer. */
const LIFE_MS = 1000;

/**
 * Asks other nodes whether they are there, when a page shows them.
 *
 * What it finds is for people. It decides nothing: a node that does not answer this one may be alive and own what it owned.
 */
export class PeerSight {
  readonly #options: PeerSightOptions;
  readonly #peers = new Map<string, Peer>();
  readonly #answeredMs = new Map<string, number>();

  constructor(options: PeerSightOptions) {
    this.#options = options;
  }

  /** Whether the node at `address` answers now. */
  async look(address: string): Promise<PeerSeen> {
    const isAnswering = await this.#ask(address);
    const answeredMs = this.#answeredMs.get(address);
    return { isAnswering, agoMs: answeredMs === undefined ? undefined : this.#options.nowMs() - answeredMs };
  }

  #ask(address: string): Promise<boolean> {
    const nowMs = this.#options.nowMs();
    const known = this.#peers.get(address);
    if (known !== undefined && nowMs < known.askedMs + LIFE_MS) return known.answering;
    const answering = this.#send(address);
    this.#peers.set(address, { askedMs: nowMs, answering });
    return answering;
  }

  async #send(address: string): Promise<boolean> {
    const { links, nowMs } = this.#options;
    const reply = await links.send(address, { method: "GET", path: "/healthz", timeoutMs: PATIENCE_MS });
    if (reply !== undefined) this.#answeredMs.set(address, nowMs());
    return reply !== undefined;
  }
}
