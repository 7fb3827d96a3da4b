import { OpId } from "@gossip/contracts";
import { coordError, type BackendError, type SessionError } from "@gossip/coordination-errors";
import { assert, err, ok, type Result } from "@gossip/stdx";
import { carryOut, type Caller } from "../coordinator/carry-out.ts";
import type { Engine } from "../coordinator/engine.ts";
import type { ShardCopy } from "../coordinator/shard-copy.ts";
import type { Settled } from "../coordinator/shard-operation.ts";
import type { CapacityHint } from "../records/capacity-hint.ts";
import { Lease } from "../records/lease.ts";
import type { ShardRecord } from "../records/shard-record.ts";
import type { Eventually } from "../store/coordination-store.ts";
import { isLeaseGone } from "./lease-gone.ts";
import type { SessionCall } from "./session-call.ts";

/** What a session begins with: a lease that was just given, and the shard as it was then. */
export interface SessionStart {
  readonly lease: Lease;
  readonly copy: ShardCopy;
  readonly capacity: CapacityHint;
  /** Whether the acquire was a replay. */
  readonly isReplay: boolean;
}

/** What every logged call of a session may be given. */
export interface SessionOptions {
  /** Give the same one again to repeat the call; a fresh one is drawn where it is left out. */
  readonly opId?: OpId;
}

/** Shared by all calls that are given none. */
export const NO_OPTIONS: SessionOptions = /* @__PURE__ */ Object.freeze({});

interface ErrorLike {
  readonly kind: string;
}

/**
 * A session from inside: what it knows of the shard that it holds, as of the last call that succeeded, and whose turn it is.
 *
 * It is also what hears of every call, since there is one at a time. So a session that makes one call, as most do that a claim
 * of many opens, is not made of functions and objects for it.
 */
export class Hold implements Caller<unknown, ErrorLike, Result<unknown, ErrorLike>> {
  readonly copy: ShardCopy;
  readonly #engine: Engine;
  #lease: Lease;
  #capacity: CapacityHint;
  #shard: ShardRecord;
  /** Those whose turn is yet to come; made with the first of them. */
  #waiting: (() => void)[] | undefined;
  /** The call whose turn it is. */
  #call: SessionCall<unknown, unknown, ErrorLike> | undefined;
  #isBusy = false;
  #isClosed = false;
  #isLeaseLost = false;

  constructor(engine: Engine, { lease, copy, capacity }: SessionStart) {
    const shard = copy.read?.shard?.record;
    assert(shard !== undefined, "a session begins with the shard that was acquired");
    assert(
      shard.tenant === lease.tenant && shard.shard === lease.shard && shard.run === lease.run,
      "a session's lease is for its shard",
    );
    this.copy = copy;
    this.#engine = engine;
    this.#lease = lease;
    this.#capacity = capacity;
    this.#shard = shard;
  }

  get lease(): Lease {
    return this.#lease;
  }

  /** What the last answer told of the rest of the run. */
  get capacity(): CapacityHint {
    return this.#capacity;
  }

  /** Kept also when the session's copy is no longer good enough to start from. */
  get shard(): ShardRecord {
    return this.#shard;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get isLeaseLost(): boolean {
    return this.#isLeaseLost;
  }

  /** Let nobody in any more. */
  close(): void {
    this.#isClosed = true;
  }

  /** The op id of a call: the caller's, or a fresh one. */
  opIdOf(options: SessionOptions): OpId {
    const { opId } = optionsOf(options);
    return opId === undefined ? this.#engine.newOpId() : OpId.fromRaw(opId);
  }

  /** Run an operation in its turn: one at a time, in the order of the calls. */
  run<Outcome, Told, Failure extends ErrorLike>(
    call: SessionCall<Outcome, Told, Failure>,
  ): Promise<Result<Told, Failure | BackendError | SessionError>> {
    if (!this.#isBusy) return this.#begin(call);
    return new Promise<void>((resolve) => (this.#waiting ??= []).push(resolve)).then(() => this.#begin(call));
  }

  /** No async function, which would cost every checkpoint one more promise and turn. Nothing is thrown all the same. */
  #begin<Outcome, Told, Failure extends ErrorLike>(
    call: SessionCall<Outcome, Told, Failure>,
  ): Promise<Result<Told, Failure | BackendError | SessionError>> {
    this.#isBusy = true;
    try {
      if (this.#isClosed) {
        this.#passOn();
        return Promise.resolve(err(coordError("SessionClosed", { shard: Lease.shardKey(this.#lease) })));
      }
      this.#call = call;
      const told = carryOut(this.#engine, call.make(), this as Caller<unknown, ErrorLike, Result<unknown, ErrorLike>>);
      // `told` tells it by this call, for as long as it is the one whose turn it is.
      return Promise.resolve(told as Eventually<Result<Told, Failure | BackendError>>);
    } catch (reason) {
      this.#passOn();
      return Promise.reject(reason);
    }
  }

  /** Hear what became of the call whose turn it is, and say what whoever made it is told. */
  told(result: Result<Settled<unknown>, ErrorLike>): Result<unknown, ErrorLike> {
    const call = this.#call!;
    const isGone = !result.ok && isLeaseGone(result.error);
    if (result.ok) this.#keep(result.value);
    if (isGone) this.#isLeaseLost = true;
    // Before the next in line is let in, so that it finds the session closed. What an earlier call learnt does not count: a store
    // that cannot be reached says nothing of this one, and its repeat may still be answered from the log.
    if (call.isLast === true && (result.ok || isGone)) this.#isClosed = true;
    const told = result.ok ? ok(call.tell(result.value.outcome)) : result;
    this.#passOn();
    return told;
  }

  broken(): void {
    this.#passOn();
  }

  /** Let the next in line take over, as it is: nobody who comes now can slip in between. */
  #passOn(): void {
    const next = this.#waiting?.shift();
    if (next === undefined) this.#isBusy = false;
    else next();
  }

  /** Take note of what came of a call that succeeded. */
  #keep({ read, hint }: Settled<unknown>): void {
    if (read.shard !== undefined) {
      this.#shard = read.shard.record;
      this.#followDeadline(read.shard.record);
    }
    if (hint !== undefined) this.#capacity = hint;
  }

  extend(deadline: Lease["deadline"]): void {
    this.#lease = Lease.withDeadline(this.#lease, deadline);
  }

  /** The record's deadline is the one that counts: a renewal whose answer was lost has moved it all the same. */
  #followDeadline({ fenceEpoch, lease }: ShardRecord): void {
    const isOurs = fenceEpoch === this.#lease.fence && lease?.owner === this.#lease.owner;
    if (isOurs && lease.deadline > this.#lease.deadline) this.extend(lease.deadline);
  }
}

/** The options, unless a caller without a compiler passed something else. */
export function optionsOf<Options extends SessionOptions>(options: Options): Options {
  assert(
    typeof options === "object" && options !== null,
    () => `options must be an object, got ${options === null ? "null" : typeof options}`,
  );
  return options;
}
