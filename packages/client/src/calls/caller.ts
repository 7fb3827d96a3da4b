import type { CheckpointRequest } from "@gossip/coordination";
import type { AnyCoordError } from "@gossip/coordination-errors";
import {
  OPERATIONS,
  pathOf,
  writeId,
  type BatchName,
  type BodyOf,
  type CallName,
  type ElementOf,
  type ErrorWire,
  type OperationName,
  type QueryOf,
  type ResponseOf,
} from "@gossip/protocol";
import { err, ok, type Result } from "@gossip/stdx";
import { LostReply, type Reply, type SendOptions, type Transport } from "../http/transport.ts";
import { CheckpointQueue, type CheckpointSettling } from "./checkpoint-queue.ts";
import { ElementQueue, type ElementCall } from "./element-queue.ts";
import { runNameOf, type OwnerBook, type RunName } from "./owners.ts";
import { pauseMs, type Patience } from "./patience.ts";
import { readCheckpoint } from "./read-checkpoint.ts";
import { isPassing, lost, readError, unreachable } from "./read-error.ts";
import { checkpointElement } from "./write-element.ts";

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

type CheckpointGot = Result<ResponseOf<"checkpoint">, AnyCoordError>;

/** How often a call goes to the next owner at once. After that it pauses first: nodes may disagree about the owner. */
const MAX_REDIRECTS = 4;

/** Called after a request with its operation and how long it took. */
export type RequestListener = (operation: OperationName, ms: number) => void;

/** Makes the calls of the protocol at the nodes that own their runs, and repeats those whose answers are lost. */
export class Caller {
  readonly #owners: OwnerBook;
  readonly #patience: Patience;
  readonly #queues = new Map<Transport, Map<BatchName, ElementQueue<BatchName>>>();
  readonly #checkpoints = new Map<Transport, CheckpointQueue>();
  readonly #listeners = new Set<RequestListener>();

  constructor(owners: OwnerBook, patience: Patience) {
    this.#owners = owners;
    this.#patience = patience;
  }

  onRequest(listener: RequestListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Execute one element of a batched call. */
  element<Name extends BatchName>(
    name: Name,
    element: ElementOf<Name>,
    waitMs = 0,
  ): Promise<Result<ResponseOf<Name>, AnyCoordError>> {
    return new Promise((settle, reject) => this.submit(name, element, { settle, reject, waitMs }));
  }

  /** As `element`, without a promise. Hot. */
  submit<Name extends BatchName>(name: Name, element: ElementOf<Name>, call: ElementCall<Name>): void {
    this.#queueOf(name, element).send(element, call);
  }

  /** Store a checkpoint without failures. Hot. */
  checkpoint(request: CheckpointRequest, settling: CheckpointSettling): void {
    const { tenant, lease } = request;
    const transport = this.#owners.hasOwners
      ? this.#owners.of(runNameOf({ tenant, run: writeId(lease.run) }))
      : this.#owners.first;
    this.#checkpointsOf(transport).send(request, settling);
  }

  /** Make a call at the owner of its run, or at the node with this address. */
  async call<Name extends CallName>(
    name: Name,
    input: CallInput<Name>,
    address?: string,
  ): Promise<Result<ResponseOf<Name>, AnyCoordError>> {
    return (await this.callOnce(name, input, address)).result;
  }

  /** As `call`; also returns whether a response was lost on the way. */
  async callOnce<Name extends CallName>(
    name: Name,
    input: CallInput<Name>,
    address?: string,
  ): Promise<Called<ResponseOf<Name>>> {
    const { nowMs, patienceMs, sleep } = this.#patience;
    const endMs = nowMs() + patienceMs;
    const run = runNameOf(Object.assign({}, input.query, input.body, input.params));
    let wasRepeated = false;
    let redirects = 0;
    for (let attempt = 0; ; attempt++) {
      const transport = address === undefined ? this.#owners.of(run) : this.#owners.at(address);
      const reply = await this.#try(transport, name, input);
      const error = reply instanceof LostReply ? undefined : errorOf(reply);
      if (!(reply instanceof LostReply) && (error === undefined || !isPassing(error))) {
        const result = error === undefined ? ok(reply.json as ResponseOf<Name>) : err(readError(error, reply.status));
        return { result, wasRepeated };
      }
      if (reply instanceof LostReply) {
        wasRepeated = true;
        this.#owners.lost(run, transport);
      }
      if (error !== undefined && this.#follow(run, error) && redirects++ < MAX_REDIRECTS) continue;
      const ms = pauseMs(this.#patience, attempt, error?.retryAfterMs);
      const isUntrusted = reply instanceof LostReply && reply.isUntrusted;
      if (isUntrusted || nowMs() + ms >= endMs) {
        const last = error === undefined ? lost(reply) : unreachable("the service cannot take the request now");
        return { result: err(last), wasRepeated };
      }
      await sleep(ms);
    }
  }

  async #try<Name extends CallName>(
    transport: Transport,
    name: Name,
    { params, query, body }: CallInput<Name>,
  ): Promise<Reply | LostReply> {
    const search = new URLSearchParams(query as Record<string, string>).toString();
    try {
      return await this.#send(transport, name, {
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

  async #send(transport: Transport, name: OperationName, options: SendOptions): Promise<Reply> {
    if (this.#listeners.size === 0) return transport.send(options);
    const startMs = this.#patience.nowMs();
    try {
      return await transport.send(options);
    } finally {
      for (const listener of this.#listeners) listener(name, this.#patience.nowMs() - startMs);
    }
  }

  #checkpointsOf(transport: Transport): CheckpointQueue {
    let queue = this.#checkpoints.get(transport);
    if (queue === undefined) {
      queue = new CheckpointQueue(
        (options) => this.#send(transport, "checkpointMany", options),
        this.#patience,
        ({ request, endMs, settle, reject }, last) => {
          const element = checkpointElement(request);
          const call = { settle: (got: CheckpointGot) => settle(readCheckpoint(got)), reject, waitMs: 0 };
          this.#queueAt(transport, "checkpoint").goOn(element, call, { endMs, last });
        },
      );
      this.#checkpoints.set(transport, queue);
    }
    return queue;
  }

  #queueOf<Name extends BatchName>(name: Name, element: ElementOf<Name>): ElementQueue<Name> {
    return this.#queueAt(this.#owners.hasOwners ? this.#owners.of(runNameOf(element)) : this.#owners.first, name);
  }

  #queueAt<Name extends BatchName>(transport: Transport, name: Name): ElementQueue<Name> {
    let queues = this.#queues.get(transport);
    if (queues === undefined) this.#queues.set(transport, (queues = new Map()));
    let queue = queues.get(name) as ElementQueue<Name> | undefined;
    if (queue === undefined) {
      queue = new ElementQueue(name, (options) => this.#send(transport, name, options), this.#patience, {
        next: (again) => this.#queueOf(name, again),
        follow: (misdirected, error) => this.#follow(runNameOf(misdirected), error),
        lost: (unanswered) => this.#owners.lost(runNameOf(unanswered), transport),
      });
      queues.set(name, queue as unknown as ElementQueue<BatchName>);
    }
    return queue;
  }

  /** Whether an error names another node to ask. */
  #follow(run: RunName, { kind, ...fields }: ErrorWire): boolean {
    const owner = kind === "Misdirected" ? fields["owner"] : undefined;
    if (typeof owner !== "string") return false;
    this.#owners.follow(run, owner);
    return true;
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
