import type { CheckpointRequest } from "@gossip/coordination";
import {
  OPERATIONS,
  writeCursor,
  writeId,
  type BodyOf,
  type ElementResult,
  type ErrorWire,
  type ResponseOf,
} from "@gossip/protocol";
import { ok } from "@gossip/stdx";
import { LostReply, type Reply, type SendOptions } from "../http/transport.ts";
import type { Patience } from "./patience.ts";
import { readCheckpoint, type Checkpointed } from "./read-checkpoint.ts";
import { TurnBatches } from "./turn-batches.ts";

/** How a checkpoint is settled: by one of the two. */
export interface CheckpointSettling {
  /** If it throws, `reject` gets the reason. */
  readonly settle: (result: Checkpointed) => void;
  readonly reject: (thrown: unknown) => void;
}

/** A checkpoint without failures, and the end of its caller's patience. */
export interface WaitingCheckpoint extends CheckpointSettling {
  readonly request: CheckpointRequest;
  readonly endMs: number;
}

/** Why a checkpoint cannot be settled here: an error of the server, or no answer. */
export type CheckpointTrouble = Extract<ElementResult, { readonly error: ErrorWire }> | { readonly lost: unknown };

/** Goes on with a checkpoint in the long form. Without `trouble` it was not sent yet. */
export type GoOn = (waiting: WaitingCheckpoint, trouble?: CheckpointTrouble) => void;

/** Groups of fewer checkpoints travel together in the long form, in one request. */
const LEAST_GROUP = 4;

/**
 * Sends checkpoints to one node in the short form: those of one run and worker together.
 *
 * Most of what a client sends is checkpoints, and nearly all of them succeed at the first try. This is all that happens
 * here. Whatever needs another try is left to the queue of the long form.
 */
export class CheckpointQueue {
  readonly #transmit: (options: SendOptions) => Promise<Reply>;
  readonly #patience: Patience;
  readonly #goOn: GoOn;
  readonly #batches = new TurnBatches<WaitingCheckpoint>((items) => this.#sendAll(items));
  /** Whether the node does not know the short form: it is older than this client. */
  #isUnknown = false;

  constructor(transmit: (options: SendOptions) => Promise<Reply>, patience: Patience, goOn: GoOn) {
    this.#transmit = transmit;
    this.#patience = patience;
    this.#goOn = goOn;
  }

  send(request: CheckpointRequest, { settle, reject }: CheckpointSettling): void {
    const endMs = this.#patience.nowMs() + this.#patience.patienceMs;
    const waiting = { request, settle, reject, endMs };
    if (this.#isUnknown) this.#goOn(waiting);
    else this.#batches.add(waiting);
  }

  async #sendAll(items: readonly WaitingCheckpoint[]): Promise<void> {
    const requests: Promise<void>[] = [];
    for (const group of groupsOf(items)) {
      if (group.length >= LEAST_GROUP || group.length === items.length) requests.push(this.#send(group));
      else for (const waiting of group) this.#goOn(waiting);
    }
    await Promise.all(requests);
  }

  async #send(group: readonly WaitingCheckpoint[]): Promise<void> {
    let reply: Reply;
    try {
      reply = await this.#transmit({
        method: "POST",
        path: OPERATIONS.checkpointMany.path,
        body: bodyOf(group),
        timeoutMs: this.#patience.replyTimeoutMs,
      });
    } catch (thrown) {
      for (const waiting of group)
        if (thrown instanceof LostReply) this.#goOn(waiting, { lost: thrown });
        else waiting.reject(thrown);
      return;
    }
    const { status, json } = reply;
    if (status === 200) return this.#settle(group, json as ResponseOf<"checkpointMany">);
    const { error } = json as { readonly error?: ErrorWire };
    if (error?.kind === "UnknownPath") this.#isUnknown = true;
    for (const waiting of group)
      if (this.#isUnknown) this.#goOn(waiting);
      else this.#goOn(waiting, error === undefined ? { lost: new LostReply(undefined) } : { error, status });
  }

  #settle(group: readonly WaitingCheckpoint[], { done, others = [] }: ResponseOf<"checkpointMany">): void {
    const ofOthers = new Map(others.map((other) => [other.index, other]));
    let result: Checkpointed | undefined;
    for (let index = 0; index < group.length; index++) {
      const waiting = group[index]!;
      try {
        const other = ofOthers.size === 0 ? undefined : ofOthers.get(index);
        if (other?.error !== undefined)
          this.#goOn(waiting, { error: other.error as ErrorWire, status: other.status ?? 0 });
        else if (other?.ok !== undefined) waiting.settle(readCheckpoint(ok(other.ok)));
        // The result of most is the same, so it is read once.
        else if (done !== undefined) waiting.settle((result ??= readCheckpoint(ok(done))));
        else this.#goOn(waiting, { lost: new LostReply(undefined) });
      } catch (thrown) {
        waiting.reject(thrown);
      }
    }
  }
}

/** Checkpoints that can travel in one request. */
function groupsOf(items: readonly WaitingCheckpoint[]): readonly (readonly WaitingCheckpoint[])[] {
  const [first] = items;
  if (first === undefined) return [];
  if (items.every((item) => isAlike(item.request, first.request))) return [items];
  const groups: WaitingCheckpoint[][] = [];
  for (const item of items) {
    const group = groups.find(([member]) => isAlike(member!.request, item.request));
    if (group === undefined) groups.push([item]);
    else group.push(item);
  }
  return groups;
}

function isAlike(a: CheckpointRequest, b: CheckpointRequest): boolean {
  return a.tenant === b.tenant && a.renew === b.renew && a.lease.run === b.lease.run && a.lease.owner === b.lease.owner;
}

function bodyOf(group: readonly WaitingCheckpoint[]): BodyOf<"checkpointMany"> {
  const { tenant, lease, renew = false } = group[0]!.request;
  const shards: string[] = [];
  const fences: string[] = [];
  const opIds: string[] = [];
  const cursors: BodyOf<"checkpointMany">["cursors"] = [];
  for (const { request } of group) {
    shards.push(writeId(request.lease.shard));
    fences.push(request.lease.fence.toString());
    opIds.push(writeId(request.opId));
    const cursor = writeCursor(request.cursor);
    const { key, token, token64 } = cursor;
    cursors.push(key === undefined || token !== undefined || token64 !== undefined ? cursor : key);
  }
  return { tenant, run: writeId(lease.run), worker: writeId(lease.owner), renew, shards, fences, opIds, cursors };
}
