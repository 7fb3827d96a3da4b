import type { AnyCoordError } from "@gossip/coordination-errors";
import {
  OPERATIONS,
  type BatchName,
  type ElementOf,
  type ElementResult,
  type ErrorWire,
  type ResponseOf,
} from "@gossip/protocol";
import { err, ok, type Result } from "@gossip/stdx";
import { LostReply, type Reply, type SendOptions } from "../http/transport.ts";
import { pauseMs, type Patience } from "./patience.ts";
import { isPassing, lost, readError } from "./read-error.ts";
import { ServiceRefused } from "./refused-error.ts";
import { TurnBatches } from "./turn-batches.ts";

/** What became of an element: the server's result, or nothing within the caller's patience. */
type Answer<Name extends BatchName> = ElementResult<Name> | { readonly lost: unknown };

/** The outcome of an element before, if there is one, and when its caller's patience ends. */
interface Earlier<Name extends BatchName> {
  readonly endMs: number;
  readonly last: Answer<Name> | undefined;
}

interface Item<Name extends BatchName> {
  element: ElementOf<Name>;
  attempt: number;
  redirects: number;
  readonly endMs: number;
  readonly call: ElementCall<Name>;
}

/** How an element is settled: by one of the two. */
export interface ElementCall<Name extends BatchName> {
  /** If it throws, `reject` gets the reason. */
  readonly settle: (result: Result<ResponseOf<Name>, AnyCoordError>) => void;
  /** The server refuses the program, or sent what the protocol does not allow. */
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
  readonly #batches = new TurnBatches<Item<Name>>((items) => this.#request(items, 0));

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
  send(element: ElementOf<Name>, call: ElementCall<Name>): void {
    const { waitMs } = call;
    const endMs = this.#patience.nowMs() + this.#patience.patienceMs + waitMs;
    const item = { element, attempt: 0, redirects: 0, endMs, call };
    if (waitMs > 0) return void this.#request([item], waitMs);
    this.#batches.add(item);
  }

  /** Go on with an element that was sent in another form until `endMs`, from its outcome there. */
  goOn(element: ElementOf<Name>, call: ElementCall<Name>, { endMs, last }: Earlier<Name>): void {
    const item = { element, attempt: 0, redirects: 0, endMs, call };
    if (last === undefined) this.#batches.add(item);
    else if ("lost" in last) this.#repeat(item, 0, last);
    else this.#settle(item, last, 0);
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
      else for (const item of items) item.call.reject(thrown);
    }
  }

  #settle(item: Item<Name>, result: ElementResult<Name>, waitMs: number): void {
    if (!("error" in result) || !isPassing(result.error)) return finish(item.call, result);
    const isRedirected = this.#routes.follow(item.element, result.error);
    if (isRedirected && item.redirects++ < MAX_REDIRECTS) this.#sendOn(item, waitMs);
    else this.#repeat(item, waitMs, result);
  }

  /** Send an element to the node that is asked now. */
  #sendOn(item: Item<Name>, waitMs: number): void {
    const queue = this.#routes.next(item.element);
    if (waitMs > 0) return void queue.#request([item], waitMs);
    queue.#batches.add(item);
  }

  /** Send an element again after a pause, or give up and return the last answer. */
  #repeat(item: Item<Name>, waitMs: number, last: Answer<Name>): void {
    if ("lost" in last) this.#routes.lost(item.element);
    const askedMs = "error" in last ? (last.error.retryAfterMs ?? 0) : 0;
    const ms = pauseMs(this.#patience, item.attempt++, askedMs);
    const isUntrusted = "lost" in last && last.lost instanceof LostReply && last.lost.isUntrusted;
    if (isUntrusted || this.#patience.nowMs() + ms >= item.endMs) return finish(item.call, last);
    // A claim may have been executed: the server must look for its leases before it takes other shards.
    if ("lost" in last && this.#name === "claim") item.element = { ...item.element, isRepeat: true };
    void this.#patience.sleep(ms).then(() => this.#sendOn(item, waitMs));
  }
}

function finish<Name extends BatchName>({ settle, reject }: ElementCall<Name>, answer: Answer<Name>): void {
  try {
    settle(resultOf(answer));
  } catch (thrown) {
    reject(thrown);
  }
}

/** Throws if the server refused the program. */
function resultOf<Name extends BatchName>(answer: Answer<Name>): Result<ResponseOf<Name>, AnyCoordError> {
  if ("ok" in answer) return ok(answer.ok);
  return err("lost" in answer ? lost(answer.lost) : readError(answer.error, answer.status));
}
