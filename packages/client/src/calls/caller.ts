import type { AnyCoordError } from "@gossip/coordination-errors";
import {
  OPERATIONS,
  pathOf,
  type BatchName,
  type BodyOf,
  type CallName,
  type ElementOf,
  type ErrorWire,
  type QueryOf,
  type ResponseOf,
} from "@gossip/protocol";
import { err, ok, type Result } from "@gossip/stdx";
import { LostReply, type Reply, type Transport } from "../http/transport.ts";
import { ElementQueue } from "./element-queue.ts";
import { pauseMs, type Patience } from "./patience.ts";
import { isPassing, readError, unreachable } from "./read-error.ts";

/** What a call is made of besides its name. */
export interface CallInput<Name extends CallName> {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: QueryOf<Name>;
  readonly body?: BodyOf<Name>;
}

/** A response, and whether the request may have been executed before it. */
export interface Called<T> {
  readonly result: Result<T, AnyCoordError>;
  readonly wasRepeated: boolean;
}

/** Makes the calls of the protocol, and repeats those whose answers are lost. */
export class Caller {
  readonly #transport: Transport;
  readonly #patience: Patience;
  readonly #queues = new Map<BatchName, ElementQueue<BatchName>>();

  constructor(transport: Transport, patience: Patience) {
    this.#transport = transport;
    this.#patience = patience;
  }

  /** Execute one element of a batched call. */
  async element<Name extends BatchName>(
    name: Name,
    element: ElementOf<Name>,
    waitMs = 0,
  ): Promise<Result<ResponseOf<Name>, AnyCoordError>> {
    const queue = this.#queueOf(name);
    const answer = await (waitMs > 0 ? queue.sendAndWait(element, waitMs) : queue.send(element));
    if ("ok" in answer) return ok(answer.ok);
    if ("lost" in answer) return err(unreachable("the service did not answer in time", answer.lost));
    return err(readError(answer.error, answer.status));
  }

  async call<Name extends CallName>(
    name: Name,
    input: CallInput<Name>,
  ): Promise<Result<ResponseOf<Name>, AnyCoordError>> {
    return (await this.callOnce(name, input)).result;
  }

  /** As `call`; tells also whether an answer was lost on the way. */
  async callOnce<Name extends CallName>(name: Name, input: CallInput<Name>): Promise<Called<ResponseOf<Name>>> {
    const { nowMs, patienceMs, sleep } = this.#patience;
    const endMs = nowMs() + patienceMs;
    let wasRepeated = false;
    for (let attempt = 0; ; attempt++) {
      const reply = await this.#try(name, input);
      const error = reply instanceof LostReply ? undefined : errorOf(reply);
      if (!(reply instanceof LostReply) && (error === undefined || !isPassing(error))) {
        const result = error === undefined ? ok(reply.json as ResponseOf<Name>) : err(readError(error, reply.status));
        return { result, wasRepeated };
      }
      if (reply instanceof LostReply) wasRepeated = true;
      const ms = pauseMs(this.#patience, attempt, error?.retryAfterMs);
      if (nowMs() + ms >= endMs) {
        const last =
          error === undefined
            ? unreachable("the service did not answer in time", reply)
            : unreachable("the service cannot take the request now");
        return { result: err(last), wasRepeated };
      }
      await sleep(ms);
    }
  }

  async #try<Name extends CallName>(name: Name, { params, query, body }: CallInput<Name>): Promise<Reply | LostReply> {
    const search = new URLSearchParams(query as Record<string, string>).toString();
    try {
      return await this.#transport.send({
        method: OPERATIONS[name].method,
        path: `${pathOf(name, params)}${search === "" ? "" : `?${search}`}`,
        body,
        timeoutMs: this.#patience.replyTimeoutMs,
      });
    } catch (thrown) {
      if (thrown instanceof LostReply) return thrown;
      throw thrown;
    }
  }

  #queueOf<Name extends BatchName>(name: Name): ElementQueue<Name> {
    let queue = this.#queues.get(name) as ElementQueue<Name> | undefined;
    if (queue === undefined) {
      queue = new ElementQueue(name, this.#transport, this.#patience);
      this.#queues.set(name, queue as unknown as ElementQueue<BatchName>);
    }
    return queue;
  }
}

function errorOf({ status, json }: Reply): ErrorWire | undefined {
  return status === 200 ? undefined : ((json as { readonly error?: ErrorWire }).error ?? UNREADABLE);
}

const UNREADABLE: ErrorWire = {
  kind: "Overloaded",
  message: "the answer is not in the protocol's form",
  advice: "RetrySameOpId",
};
