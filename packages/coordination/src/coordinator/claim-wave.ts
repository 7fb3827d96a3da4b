import type { LogicalTime, ShardKey, TenantId, WorkerId } from "@gossip/contracts";
import type { AcquireError, ClaimError } from "@gossip/coordination-errors";
import type { Result } from "@gossip/stdx";
import type { AcquireOutcome } from "../kernel/acquire.ts";
import type { RunHead } from "../records/run-record.ts";
import type { WorkerSession } from "../session/worker-session.ts";
import type { ClaimCandidate, Versioned } from "../store/store-reads.ts";
import { AcquireOperation } from "./acquire-operation.ts";
import { toSession } from "./acquiring.ts";
import { carryOutUnpromised, type Caller } from "./carry-out.ts";
import type { Engine } from "./engine.ts";
import { ShardCopy } from "./shard-copy.ts";
import type { Settled } from "./shard-operation.ts";

/** Who claims, and for whom. */
export interface Claimant {
  readonly tenant: TenantId;
  readonly worker: WorkerId;
}

/** What a claim found on its way, told by those who held what it tried. */
export interface Search {
  readonly sessions: WorkerSession[];
  earliestDeadline: LogicalTime | undefined;
  /** How many of those tried had come to their end, or were gone. */
  ended: number;
}

/**
 * Candidates that are tried together.
 *
 * There are hundreds of them, and a promise of each, with what waits for it, takes as long as deciding on it. So the wave
 * counts those that it has heard of, and there is one promise, which is kept when it has heard of all.
 */
export class ClaimWave {
  readonly engine: Engine;
  readonly search: Search;
  readonly #run: Versioned<RunHead>;
  #left = 0;
  #done: () => void = ignore;
  /** What makes trying more of no use, and what went wrong: of all that were tried, that of the first. */
  #stopped: Heard<ClaimError> | undefined;
  #broken: Heard<unknown> | undefined;

  constructor(engine: Engine, search: Search, run: Versioned<RunHead>) {
    this.engine = engine;
    this.search = search;
    this.#run = run;
  }

  /** Try all of some. The answer is what makes trying more of no use, if anything does; whatever else they came to is in the search. */
  async tryAll(claimant: Claimant, candidates: readonly ClaimCandidate[]): Promise<ClaimError | undefined> {
    this.#left = candidates.length;
    for (let index = 0; index < candidates.length; index++) this.#try(claimant, candidates[index]!, index);
    if (this.#left > 0) await new Promise<void>((resolve) => (this.#done = resolve));
    if (this.#broken === undefined) return this.#stopped?.what;
    // Whoever claims never hears of those that were acquired beside it, and would hold them for a whole lease.
    await Promise.allSettled(this.search.sessions.splice(0).map((session) => session.release()));
    throw this.#broken.what;
  }

  #try({ tenant, worker }: Claimant, candidate: ClaimCandidate, index: number): void {
    // A candidate that came with its record is acquired without another read; the write is guarded all the same. The record names the shard.
    const key: ShardKey = candidate.read?.record ?? { run: this.#run.record.run, shard: candidate.shard };
    const copy = new ShardCopy(candidate.read && { run: this.#run, shard: candidate.read });
    try {
      const operation = new AcquireOperation({ tenant, key, worker, opId: this.engine.newOpId() });
      carryOutUnpromised(this.engine, operation, new Claimer(this, copy, index));
    } catch (reason) {
      // Like any other, so that those beside it are waited for.
      this.broke(index, reason);
    }
  }

  /** Hear what became of a candidate. */
  heard(index: number, stopped: ClaimError | undefined): void {
    if (stopped !== undefined) this.#stopped = earliest(this.#stopped, { index, what: stopped });
    this.#countDown();
  }

  /** Hear that nothing can be said of a candidate: the program is wrong. */
  broke(index: number, reason: unknown): void {
    this.#broken = earliest(this.#broken, { index, what: reason });
    this.#countDown();
  }

  #countDown(): void {
    this.#left--;
    if (this.#left === 0) this.#done();
  }
}

interface Heard<What> {
  /** Which of the wave it is about. */
  readonly index: number;
  readonly what: What;
}

function earliest<What>(known: Heard<What> | undefined, heard: Heard<What>): Heard<What> {
  return known === undefined || heard.index < known.index ? heard : known;
}

function ignore(): void {}

/** Hears what became of one candidate. */
class Claimer implements Caller<AcquireOutcome, AcquireError, void> {
  readonly copy: ShardCopy;
  readonly #wave: ClaimWave;
  readonly #index: number;

  constructor(wave: ClaimWave, copy: ShardCopy, index: number) {
    this.copy = copy;
    this.#wave = wave;
    this.#index = index;
  }

  told(settled: Result<Settled<AcquireOutcome>, AcquireError>): void {
    const wave = this.#wave;
    const opened = toSession(wave.engine, settled, this.copy);
    if (opened.ok) wave.search.sessions.push(opened.value);
    wave.heard(this.#index, opened.ok ? undefined : passOver(wave.search, opened.error));
  }

  broken(reason: unknown): void {
    this.#wave.broke(this.#index, reason);
  }
}

/** Take note of why a candidate was not acquired. The answer is the reason, where it makes trying more of no use. */
function passOver(search: Search, error: AcquireError): ClaimError | undefined {
  switch (error.kind) {
    case "AlreadyLeased":
      search.earliestDeadline = earlier(search.earliestDeadline, error.leaseDeadline);
      return undefined;
    case "ShardTerminal":
    case "ShardNotFound":
      search.ended++;
      return undefined;
    case "RunTerminal":
    case "TenantMismatch":
    case "BackendError":
      return error;
  }
}

function earlier(a: LogicalTime | undefined, b: LogicalTime): LogicalTime {
  return a === undefined || b < a ? b : a;
}
