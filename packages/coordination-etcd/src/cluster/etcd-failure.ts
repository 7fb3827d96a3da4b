import type { CommitAnswer } from "@gossip/coordination";
import { InfraError } from "@gossip/coordination-errors";
import { EtcdCode, type EtcdError } from "@gossip/etcd-client";
import { InvariantViolation } from "@gossip/stdx";

/** What a store was doing when it failed. */
export type EtcdOperation =
  | "etcd.readRun"
  | "etcd.readShard"
  | "etcd.readHint"
  | "etcd.readProgress"
  | "etcd.markStarved"
  | "etcd.listClaimCandidates"
  | "etcd.listShards"
  | "etcd.listRuns"
  | "etcd.listTenants"
  | "etcd.commit"
  | "etcd.sweep"
  | "etcd.inspect";

/** Thrown where etcd did not do what it was asked; never leaves the store. */
export class EtcdFailure extends Error {
  readonly error: EtcdError;

  constructor(error: EtcdError) {
    super("etcd did not do what it was asked");
    this.error = error;
  }

  /** A failure of something that writes nothing, or nothing that anybody looks at. */
  static harmless(error: EtcdError): EtcdFailure {
    return new EtcdFailure(error.kind === "EtcdUnavailable" ? { ...error, mayBeDone: false } : error);
  }

  /** Whether what was asked may have been done all the same. */
  get mayBeDone(): boolean {
    return this.error.kind === "EtcdUnavailable" && this.error.mayBeDone;
  }

  /** Whether a revision was asked for that is kept no longer. */
  get isCompacted(): boolean {
    return this.error.kind === "EtcdRefused" && this.error.code === EtcdCode.OutOfRange;
  }

  /** Whether the request had more operations or bytes than the server takes. Then it was not done. */
  get isTooLarge(): boolean {
    return !this.mayBeDone && /too many operations|request is too large|larger than max/u.test(this.error.reason);
  }
}

/** Thrown where what is stored contradicts itself; never leaves the store. */
export class CorruptStore extends Error {
  readonly failure: InfraError;

  constructor(failure: InfraError) {
    super("what is stored contradicts itself");
    this.failure = failure;
  }
}

/** Thrown where others change the same things faster than we can: nothing was done. */
export class Outpaced extends Error {
  constructor() {
    super("others were faster every time");
  }
}

/** What was thrown, in our words. Whatever is none of ours is a defect, and is thrown on. */
export function failureFrom(operation: EtcdOperation, thrown: unknown): InfraError {
  if (thrown instanceof CorruptStore) return thrown.failure;
  if (thrown instanceof Outpaced)
    return InfraError.transient({ operation, message: "others changed the same keys every time" });
  if (!(thrown instanceof EtcdFailure)) throw thrown;
  const { error: cause } = thrown;
  if (cause.kind === "EtcdUnavailable") {
    const code = /^[A-Z][A-Z0-9_]+$/u.test(cause.reason) ? cause.reason : undefined;
    if (cause.reason.includes("space exceeded"))
      return InfraError.transient({ operation, message: "etcd has no room left", code, cause });
    return InfraError.transient({
      operation,
      message: "etcd could not be reached, or did not answer in time",
      code,
      cause,
    });
  }
  const { code } = cause;
  if (thrown.isCompacted)
    return InfraError.transient({ operation, message: "the moment that was looked at is kept no longer", code, cause });
  if (thrown.isTooLarge)
    return InfraError.transient({ operation, message: "the request is larger than etcd takes", code, cause });
  if (code === EtcdCode.PermissionDenied || code === EtcdCode.Unauthenticated) {
    return InfraError.transient({ operation, message: "etcd refused the login, or what the user may do", code, cause });
  }
  return InfraError.transient({ operation, message: "etcd refused the request", code, cause });
}

/** What became of a set whose last step failed: what may have been made is never called not made. */
export function answerFrom(thrown: unknown): CommitAnswer {
  if (thrown instanceof InvariantViolation) throw thrown;
  const error = failureFrom("etcd.commit", thrown);
  return { kind: thrown instanceof EtcdFailure && thrown.mayBeDone ? "Unknown" : "Failed", error };
}

export function closedFailure(operation: EtcdOperation): InfraError {
  return InfraError.transient({ operation, message: "the store is closed" });
}
