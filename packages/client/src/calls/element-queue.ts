import { OPERATIONS, type BatchName, type ElementOf, type ElementResult, type ErrorWire } from "@gossip/protocol";
import { LostReply, type Reply, type SendOptions } from "../http/transport.ts";
import { pauseMs, type Patience } from "./patience.ts";
import { isPassing } from "./read-error.ts";
import { ServiceRefused } from "./refused-error.ts";

/** What became of an element: the server's result, or nothing within the caller's patience. */
export type Answer<Name extends BatchName> = ElementResult<Name> | { readonly lost: unknown };

interface Item<Name extends BatchName> {
  element: ElementOf<Name>;
  attempt: number;
  redirects: number;
  readonly endMs: number;
  readonly settle: (answer: Answer<Name>) => void;
  readonly reject: (thrown: unknown) => void;
}

export interface SendElement<Name extends BatchName> {
  readonly settle: (answer: Answer<Name>) => void;
  /** The server refuses the program. */
  readonly reject: (thrown: unknown) => void;
  /** How long the server may wait before it answers. */
  readonly waitMs: number;
}

/** How an element finds the node that owns its run. */
export interface ElementRoutes<Name extends BatchName> {
  /** The queue of the node to ask now. */
  next(element: ElementOf<Name>): ElementQueue<Name>;
  /** Whether an error names another node. It is asked from now on. */
  follow(element: ElementOf<Name>, error: ErrorWire): boolean;
  /** The node did not answer. */
  lost(element: ElementOf<Name>): void;
}

/** How often an element goes to the next owner at once. After that it pauses first. */
const MAX_REDIRECTS = 4;
/** Requests of one operation that are under way at the same time. Beyond that, elements wait and travel together. */
const MAX_IN_FLIGHT = 4;
const MAX_BATCH = 500;

/**
 * Sends the elements of one operation to one node.
 *
 * The elements of one turn of the event loop travel in one request. An element whose answer was lost is sent again with
 * the same op id until there is an answer, or its caller's patience ends.
 */
export class ElementQueue<Name extends BatchName> {
  readonly #name: Name;
  readonly #transmit: (options: SendOptions) => Promise<Reply>;
  readonly #patience: Patience;
  readonly #routes: ElementRoutes<Name>;
  #waiting: Item<Name>[] = [];
  #isScheduled = false;
  #inFlight = 0;

  constructor(
    name: Name,
    transmit: (options: SendOptions) => Promise<Reply>,
    patience: Patience,
    routes: ElementRoutes<Name>,
  ) {
    this.#routes = routes;
    this.#name = name;
    this.#transmit = transmit;
    this.#patience = patience;
  }

  /** Send an element: with others, or by itself if the server may wait before it answers. */
  send(element: ElementOf<Name>, { settle, reject, waitMs }: SendElement<Name>): void {
    const endMs = this.#patience.nowMs() + this.#patience.patienceMs + waitMs;
    const item = { element, attempt: 0, redirects: 0, endMs, settle, reject };
    if (waitMs > 0) return void this.#request([item], waitMs);
    this.#waiting.push(item);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#inFlight >= MAX_IN_FLIGHT || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      const items = this.#waiting.splice(0, MAX_BATCH);
      this.#inFlight++;
      void this.#request(items, 0).finally(() => {
        this.#inFlight--;
        this.#schedule();
      });
      this.#schedule();
    });
  }

  async #request(items: readonly Item<Name>[], waitMs: number): Promise<void> {
    const elements = items.map(({ element }) => element);
    const { replyTimeoutMs } = this.#patience;
    try {
      const { status, json } = await this.#transmit({
        method: "POST",
        path: OPERATIONS[this.#name].path,
        body: waitMs > 0 ? { elements, waitMs } : { elements },
        timeoutMs: replyTimeoutMs + waitMs,
      });
      const reply = json as { readonly results?: readonly ElementResult<Name>[]; readonly error?: ErrorWire };
      if (status === 200 && reply.results?.length === items.length)
        return items.forEach((item, index) => this.#settle(item, reply.results![index]!, waitMs));
      if (reply.error === undefined) throw new LostReply(undefined);
      if (!isPassing(reply.error)) throw new ServiceRefused(reply.error, status);
      for (const item of items) this.#settle(item, { error: reply.error, status }, waitMs);
    } catch (thrown) {
      if (thrown instanceof LostReply) for (const item of items) this.#repeat(item, waitMs, { lost: thrown });
      else for (const item of items) item.reject(thrown);
    }
  }

  #settle(item: Item<Name>, result: ElementResult<Name>, waitMs: number): void {
    if (!("error" in result) || !isPassing(result.error)) return item.settle(result);
    const isRedirected = this.#routes.follow(item.element, result.error);
    if (isRedirected && item.redirects++ < MAX_REDIRECTS) this.#sendOn(item, waitMs);
    else this.#repeat(item, waitMs, result);
  }

  /** Send an element to the node that is asked now. */
  #sendOn(item: Item<Name>, waitMs: number): void {
    const queue = this.#routes.next(item.element);
    if (waitMs > 0) return void queue.#request([item], waitMs);
    queue.#waiting.push(item);
    queue.#schedule();
  }

  /** Send an element again after a pause, or give up and return the last answer. */
  #repeat(item: Item<Name>, waitMs: number, last: Answer<Name>): void {
    if ("lost" in last) this.#routes.lost(item.element);
    const askedMs = "error" in last ? (last.error.retryAfterMs ?? 0) : 0;
    const ms = pauseMs(this.#patience, item.attempt++, askedMs);
    const isUntrusted = "lost" in last && last.lost instanceof LostReply && last.lost.isUntrusted;
    if (isUntrusted || this.#patience.nowMs() + ms >= item.endMs) return item.settle(last);
    // A claim may have been executed: the server must look for its leases before it takes other shards.
    if ("lost" in last && this.#name === "claim") item.element = { ...item.element, isRepeat: true };
    void this.#patience.sleep(ms).then(() => this.#sendOn(item, waitMs));
  }
}
