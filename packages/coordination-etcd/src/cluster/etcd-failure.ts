import type { CommitAnswer } from "@gossip/coordination";
import { InfraError } from "@gossip/coordination-errors";
import { EtcdCode, type EtcdError } from "@gossip/etcd-client";
import { InvariantViolation } from "@gossip/stdx";
import { CorruptStore, type StoreOperation } from "@gossip/store-kit";

/** The calls of this store that can fail. */
export type EtcdOperation = StoreOperation<"etcd">;

/** Thrown when a request to etcd failed. Never leaves the store. */
export class EtcdFailure extends Error {
  readonly error: EtcdError;

  constructor(error: EtcdError) {
    super("the request to etcd failed");
    this.error = error;
  }

  /** A failure of a request that writes nothing, or nothing that is visible yet. */
  static harmless(error: EtcdError): EtcdFailure {
    return new EtcdFailure(error.kind === "EtcdUnavailable" ? { ...error, mayBeDone: false } : error);
  }

  /** Whether the outcome is unknown: the request may have been carried out. */
  get mayBeDone(): boolean {
    return this.error.kind === "EtcdUnavailable" && this.error.mayBeDone;
  }

  /** Whether the requested revision has been compacted. */
  get isCompacted(): boolean {
    return this.error.kind === "EtcdRefused" && this.error.code === EtcdCode.OutOfRange;
  }

  /** Whether the request had more operations or bytes than the server accepts. Such a request was not carried out. */
  get isTooLarge(): boolean {
    return !this.mayBeDone && /too many operations|request is too large|larger than max/u.test(this.error.reason);
  }
}

/** Thrown when concurrent writers won every retry. Nothing was written. */
export class Outpaced extends Error {
  constructor() {
    super("concurrent writers won every retry");
  }
}

/** Converts a thrown failure into an `InfraError`. Rethrows anything else, which is a bug. */
export function failureFrom(operation: EtcdOperation, thrown: unknown): InfraError {
  if (thrown instanceof CorruptStore) return thrown.failure;
  if (thrown instanceof Outpaced)
    return InfraError.transient({ operation, message: "concurrent writers changed the same keys at every retry" });
  if (!(thrown instanceof EtcdFailure)) throw thrown;
  const { error: cause } = thrown;
  if (cause.kind === "EtcdUnavailable") {
    const code = /^[A-Z][A-Z0-9_]+$/u.test(cause.reason) ? cause.reason : undefined;
    if (cause.reason.includes("space exceeded"))
      return InfraError.transient({ operation, message: "etcd has no space left", code, cause });
    return InfraError.transient({
      operation,
      message: "etcd could not be reached, or did not answer in time",
      code,
      cause,
    });
  }
  const { code } = cause;
  if (thrown.isCompacted)
    return InfraError.transient({
      operation,
      message: "etcd has compacted the revision that was being read",
      code,
      cause,
    });
  if (thrown.isTooLarge)
    return InfraError.transient({ operation, message: "the request is larger than etcd accepts", code, cause });
  if (code === EtcdCode.PermissionDenied || code === EtcdCode.Unauthenticated) {
    return InfraError.transient({
      operation,
      message: "etcd rejected the login, or the user lacks permission",
      code,
      cause,
    });
  }
  return InfraError.transient({ operation, message: "etcd rejected the request", code, cause });
}

/** The result of a write set whose last step failed. A write that may have been made is `Unknown`, never `Failed`. */
export function answerFrom(thrown: unknown): CommitAnswer {
  if (thrown instanceof InvariantViolation) throw thrown;
  const error = failureFrom("etcd.commit", thrown);
  return { kind: thrown instanceof EtcdFailure && thrown.mayBeDone ? "Unknown" : "Failed", error };
}
