import type { Lease } from "../../records/lease.ts";
import type { RunRecord } from "../../records/run-record.ts";
import type { ShardRecord } from "../../records/shard-record.ts";
import { formatMessage, type Message } from "./message.ts";
import type { ActorState, ExploreState } from "./explore-state.ts";

/**
 * Gives equal values equal numbers, so that a whole state becomes a short line.
 *
 * The text of a value is computed once: values never change, and the same object occurs in many states. `undefined` is
 * number 0.
 */
export class Interner {
  readonly #numbers = new WeakMap<object, number>();
  readonly #texts = new Map<string, number>();

  shard(record: ShardRecord | undefined): number {
    return record === undefined ? 0 : this.#number(record, shardText);
  }

  run(record: RunRecord | undefined): number {
    return record === undefined ? 0 : this.#number(record, runText);
  }

  message(message: Message): number {
    return this.#number(message, formatMessage);
  }

  lease(lease: Lease): number {
    return this.#number(lease, leaseText);
  }

  actor(actor: ActorState): number {
    return this.#number(actor, this.#actorText);
  }

  /**
   * What distinguishes states, and nothing else: how a state was reached is not included. Two orders of independent moves
   * lead to the same line.
   */
  state({ tick, run, shards, streams, actors }: ExploreState): string {
    let line = `${tick}|${this.run(run)}|${this.shards(shards)}|`;
    for (const stream of streams) line += stream === undefined ? "," : `${stream.fence}:${stream.owner},`;
    for (const actor of actors) line += `|${this.actor(actor)}`;
    return line;
  }

  shards(shards: readonly ShardRecord[]): string {
    let line = "";
    for (const shard of shards) line += `${this.shard(shard)},`;
    return line;
  }

  readonly #actorText = ({ leases, sent, requestCount }: ActorState): string => {
    const held = leases.map((lease) => this.lease(lease));
    const asked = sent.map((message) => this.message(message));
    return `actor ${requestCount} ${held.join(",")} ${asked.join(",")}`;
  };

  #number<Value extends object>(value: Value, textOf: (value: Value) => string): number {
    const known = this.#numbers.get(value);
    if (known !== undefined) return known;
    const text = textOf(value);
    const number = this.#texts.get(text) ?? this.#texts.size + 1;
    this.#texts.set(text, number);
    // Everything is shared here, so a write to a value is detected.
    this.#numbers.set(Object.freeze(value), number);
    return number;
  }
}

function leaseText({ shard, owner, fence, deadline }: Lease): string {
  return `lease ${shard} ${owner} ${fence} ${deadline}`;
}

function shardText(record: ShardRecord): string {
  const { shard, status, parkReason, spec, cursor, lease, fenceEpoch, parent, spawned, opLog, lastTime, attempts } =
    record;
  const holder = lease === undefined ? "" : `${lease.owner} ${lease.deadline} ${lease.opId}`;
  const log = opLog.map((entry) => `${entry.opId} ${entry.kind} ${entry.payloadHash} ${entry.executedAt}`);
  const range = [spec.keyRangeStart, spec.keyRangeEnd, spec.metadata];
  return `shard ${[shard, status, parkReason, ...range, cursor.lastKey, cursor.token, holder, fenceEpoch, parent, spawned, log, lastTime, attempts].join(";")}`;
}

function runText({ status, createdAt, completedAt, rootShards, opLog, lastTime }: RunRecord): string {
  const log = opLog.map((entry) => `${entry.opId} ${entry.kind} ${entry.executedAt}`);
  return `run ${[status, createdAt, completedAt, rootShards, log, lastTime].join(";")}`;
}
