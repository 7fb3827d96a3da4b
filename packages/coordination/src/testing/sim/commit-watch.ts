import type { OpId, WorkerId } from "@gossip/contracts";
import type { Lease } from "../../records/lease.ts";
import { findRunFault } from "../../records/run-fault.ts";
import { isLeasedAt, type ShardRecord } from "../../records/shard-record.ts";
import type { PutRunSet, SplitShardSet, UpdateShardSet, WriteSet } from "../../store/write-set.ts";
import { checkRunAllows, checkRunStep, isGrant } from "./invariants/check-run-rules.ts";
import { checkShardState, checkShardStep, addressOf } from "./invariants/check-shard.ts";
import { checkSpawnedIds } from "./invariants/check-split.ts";
import { equalShards } from "./invariants/equal-records.ts";
import { checkAuthority, checkStream, type MutationStream } from "./invariants/mutation-stream.ts";
import type { Violation } from "./invariants/violation.ts";
import type { StoreMirror } from "./store-mirror.ts";

/**
 * Checks every write against the rules at the moment the store accepts it.
 *
 * Only this class knows exactly what happened: which actor sent the
 * write, under which lease, and what was stored before.
 */
export class CommitWatch {
  readonly #mirror: StoreMirror;
  readonly #report: (violation: Violation) => void;
  readonly #streams = new Map<string, MutationStream>();
  /** The leases under which operations were requested: by op id, and for renewals by actor. */
  readonly #presented = new Map<OpId | string, Lease>();
  readonly #grants = new Map<string, WorkerId>();
  /** How many writes were accepted. */
  acceptedCount = 0;
  /** Every operation that was ever accepted. */
  readonly #accepted = new Set<string>();

  constructor(mirror: StoreMirror, report: (violation: Violation) => void) {
    this.#mirror = mirror;
    this.#report = report;
  }

  /** Registers the lease of a request that is about to be made. Without an op id it is a renewal. */
  present(lease: Lease, opId?: OpId): void {
    this.#presented.set(opId ?? nameRenewal(lease.owner, lease), lease);
  }

  /** The worker that was granted a shard with this fence. */
  granteeOf(lease: Lease): WorkerId | undefined {
    return this.#grants.get(`${nameShard(lease)}/${lease.fence}`);
  }

  /** Whether an operation was ever accepted, even if the log has evicted it. */
  wasAccepted(record: { readonly tenant: string; readonly run: bigint; readonly shard: bigint }, opId: OpId): boolean {
    return this.#accepted.has(`${nameShard(record)}/${opId}`);
  }

  /** A write of `actor` was accepted. */
  accept(actor: WorkerId, set: WriteSet): void {
    this.acceptedCount += 1;
    switch (set.kind) {
      case "UpdateShard":
      case "SplitShard":
        this.#acceptShard(actor, set);
        break;
      case "PutRun":
        this.#acceptRun(set);
        break;
      case "RemoveRun":
      case "WriteNotes":
        break;
    }
    this.#mirror.write(set);
  }

  #acceptShard(actor: WorkerId, set: UpdateShardSet | SplitShardSet): void {
    const { after } = set.shard;
    const before = this.#mirror.shard(after);
    if (before === undefined) return this.#wrong("a write was accepted for a shard that does not exist");
    if (!equalShards(before, set.shard.before))
      this.#wrong("a write was accepted although its shard had changed since it was read");
    const { run } = this.#mirror.run(set.tenant, set.run)!;
    this.#reportAll([
      ...checkShardStep(before, after),
      ...checkShardState(after),
      ...checkRunAllows(run, before, after),
    ]);
    if (set.kind === "SplitShard") {
      this.#reportAll(checkSpawnedIds(before, after));
      for (const created of set.created) {
        if (this.#mirror.shard(created) !== undefined)
          this.#wrong("a split was accepted although the id of a child was taken");
        this.#reportAll(checkShardState(created));
      }
    }
    this.#checkMutation(actor, before, after);
  }

  #checkMutation(actor: WorkerId, before: ShardRecord, after: ShardRecord): void {
    const logged = after.opLog.at(-1);
    if (logged !== undefined && logged.opId !== before.opLog.at(-1)?.opId) {
      this.#accepted.add(`${nameShard(after)}/${logged.opId}`);
      // An operator needs no lease.
      if (logged.kind !== "Unpark") this.#checkLeased(before, after, this.#presented.get(logged.opId));
    } else if (isGrant(before, after)) {
      this.#checkGrant(actor, before, after);
    } else if (after.lease !== undefined && after.lease.deadline !== before.lease?.deadline) {
      this.#checkLeased(before, after, this.#presented.get(nameRenewal(actor, after)));
    }
    // Otherwise the shard was parked for too many attempts, which needs no lease either.
  }

  #checkGrant(actor: WorkerId, before: ShardRecord, after: ShardRecord): void {
    const { owner } = after.lease!;
    const fence = after.fenceEpoch;
    this.#accepted.add(`${nameShard(after)}/${after.lease!.opId}`);
    if (owner !== actor) this.#wrong("a worker was granted a shard that another requested");
    if (isLeasedAt(before, after.lastTime)) {
      this.#report({ kind: "MutualExclusion", ...addressOf(after), workers: [before.lease!.owner, owner] });
    }
    this.#continueStream(after, { fence, owner }, true);
    this.#grants.set(`${nameShard(after)}/${fence}`, owner);
  }

  #checkLeased(before: ShardRecord, after: ShardRecord, lease: Lease | undefined): void {
    if (lease === undefined) return this.#wrong("a write was accepted that no actor requested");
    // Checked at the time in the record, not at the time of arrival: the guard excludes anything in between.
    this.#reportAll(checkAuthority(before, lease, after.lastTime));
    this.#continueStream(after, { fence: lease.fence, owner: lease.owner }, false);
  }

  #continueStream(record: ShardRecord, stream: MutationStream, isGrant: boolean): void {
    const name = nameShard(record);
    this.#reportAll(checkStream(addressOf(record), this.#streams.get(name), { ...stream, isGrant }));
    this.#streams.set(name, stream);
  }

  #acceptRun({ tenant, run, after, created }: PutRunSet): void {
    const before = this.#mirror.run(tenant, run);
    const statuses = [...(before?.shards.values() ?? [])].map(({ status }) => status);
    this.#reportAll(checkRunStep(before?.run, after, statuses));
    const fault = findRunFault(after);
    if (fault !== undefined) this.#wrong(`an invalid run was accepted: ${fault}`);
    for (const shard of created) this.#reportAll(checkShardState(shard));
  }

  #reportAll(violations: readonly Violation[]): void {
    for (const violation of violations) this.#report(violation);
  }

  #wrong(message: string): void {
    this.#report({ kind: "WrongAnswer", operation: "commit", message });
  }
}

function nameShard({
  tenant,
  run,
  shard,
}: {
  readonly tenant: string;
  readonly run: bigint;
  readonly shard: bigint;
}): string {
  return `${tenant}/${run}/${shard}`;
}

function nameRenewal(
  worker: WorkerId,
  address: { readonly tenant: string; readonly run: bigint; readonly shard: bigint },
): string {
  return `${worker}/${nameShard(address)}`;
}
