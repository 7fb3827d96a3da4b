import { OPERATIONS, type BatchName, type ElementOf, type ElementResult, type ErrorWire } from "@gossip/protocol";
import { LostReply, type Transport } from "../http/transport.ts";
import { pauseMs, type Patience } from "./patience.ts";
import { isPassing } from "./read-error.ts";
import { ServiceRefused } from "./refused-error.ts";

/** What became of an element: the server's result, or nothing within the caller's patience. */
export type Answer<Name extends BatchName> = ElementResult<Name> | { readonly lost: unknown };

interface Item<Name extends BatchName> {
  element: ElementOf<Name>;
  attempt: number;
  readonly endMs: number;
  readonly settle: (answer: Answer<Name>) => void;
  readonly reject: (thrown: unknown) => void;
}

/** Requests of one operation that are under way at the same time. Beyond that, elements wait and travel together. */
const MAX_IN_FLIGHT = 4;
const MAX_BATCH = 500;

/**
 * Sends the elements of one operation.
 *
 * The elements of one turn of the event loop travel in one request. An element whose answer was lost is sent again with
 * the same op id until there is an answer, or its caller's patience ends.
 */
export class ElementQueue<Name extends BatchName> {
  readonly #name: Name;
  readonly #transport: Transport;
  readonly #patience: Patience;
  #waiting: Item<Name>[] = [];
  #isScheduled = false;
  #inFlight = 0;

  constructor(name: Name, transport: Transport, patience: Patience) {
    this.#name = name;
    this.#transport = transport;
    this.#patience = patience;
  }

  /** Send an element. Rejects only if the server refuses the program. */
  send(element: ElementOf<Name>): Promise<Answer<Name>> {
    return new Promise((settle, reject) => {
      const endMs = this.#patience.nowMs() + this.#patience.patienceMs;
      this.#waiting.push({ element, attempt: 0, endMs, settle, reject });
      this.#schedule();
    });
  }

  /** Send an element by itself, and let the server wait before it answers. */
  sendAndWait(element: ElementOf<Name>, waitMs: number): Promise<Answer<Name>> {
    return new Promise((settle, reject) => {
      const endMs = this.#patience.nowMs() + this.#patience.patienceMs + waitMs;
      void this.#request([{ element, attempt: 0, endMs, settle, reject }], waitMs);
    });
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
      const { status, json } = await this.#transport.send({
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
    if ("error" in result && isPassing(result.error)) this.#repeat(item, waitMs, result);
    else item.settle(result);
  }

  /** Send an element again after a pause, or give up and return the last answer. */
  #repeat(item: Item<Name>, waitMs: number, last: Answer<Name>): void {
    const askedMs = "error" in last ? (last.error.retryAfterMs ?? 0) : 0;
    const ms = pauseMs(this.#patience, item.attempt++, askedMs);
    if (this.#patience.nowMs() + ms >= item.endMs) return item.settle(last);
    // A claim may have been executed: the server must look for its leases before it takes other shards.
    if ("lost" in last && this.#name === "claim") item.element = { ...item.element, isRepeat: true };
    void this.#patience.sleep(ms).then(() => {
      if (waitMs > 0) return this.#request([item], waitMs);
      this.#waiting.push(item);
      this.#schedule();
      return undefined;
    });
  }
}
