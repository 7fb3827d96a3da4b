// A claim loop fails far more often than it succeeds, so failing is a hot path. What a failure costs here, beside the
// same failure as an exception; and what it costs to ask what to do about it.
import { FenceEpoch, LogicalTime, TenantId, WorkerId } from "@gossip/contracts";
import { adviceFor, coordError, InfraError, parseCoordError, waitUntil } from "@gossip/coordination-errors";
import type { AcquireError, AnyCoordError, CheckpointError, RenewError } from "@gossip/coordination-errors";
import { err, type Result } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";

const two = FenceEpoch.fromRaw(2n);
const three = FenceEpoch.fromRaw(3n);
const owner = WorkerId.fromRaw(77n);
const deadline = LogicalTime.fromRaw(1_700_000_000_000n);

class StaleFenceError extends Error {
  readonly presented: FenceEpoch;
  readonly current: FenceEpoch;

  constructor(presented: FenceEpoch, current: FenceEpoch) {
    super("stale fence");
    this.presented = presented;
    this.current = current;
  }
}

class AlreadyLeasedError extends Error {
  readonly leaseDeadline: LogicalTime;

  constructor(leaseDeadline: LogicalTime) {
    super("already leased");
    this.leaseDeadline = leaseDeadline;
  }
}

function returnStaleFence(): Result<void, RenewError> {
  return err(coordError("StaleFence", { presented: two, current: three }));
}

function throwStaleFence(): void {
  throw new StaleFenceError(two, three);
}

function returnAlreadyLeased(): Result<void, AcquireError> {
  return err(coordError("AlreadyLeased", { currentOwner: owner, leaseDeadline: deadline }));
}

function throwAlreadyLeased(): void {
  throw new AlreadyLeasedError(deadline);
}

function returnTenantMismatch(): Result<void, CheckpointError> {
  return err(coordError("TenantMismatch", { expected: TenantId.ZERO }));
}

function caught(throwing: () => void): unknown {
  try {
    return throwing();
  } catch (thrown) {
    return thrown;
  }
}

compare("fail: two fields", {
  forms: { "failed Result": returnStaleFence, "thrown Error subclass": () => caught(throwStaleFence) },
  bounds: [{ form: "failed Result", ratioAtMost: 1 / 20, toBestOf: ["thrown Error subclass"] }],
});

compare("fail: a hidden field", {
  forms: {
    AlreadyLeased: returnAlreadyLeased,
    TenantMismatch: returnTenantMismatch,
    "thrown Error subclass": () => caught(throwAlreadyLeased),
  },
  bounds: [
    { form: "AlreadyLeased", ratioAtMost: 1 / 20, toBestOf: ["thrown Error subclass"] },
    { form: "TenantMismatch", ratioAtMost: 1 / 20, toBestOf: ["thrown Error subclass"] },
  ],
});

const errors: readonly AnyCoordError[] = [
  coordError("StaleFence", { presented: two, current: three }),
  coordError("AlreadyLeased", { currentOwner: owner, leaseDeadline: deadline }),
  coordError("NoneAvailable", { earliestDeadline: deadline }),
  coordError("RunNotFound"),
  coordError("GetRunFailed", {
    reason: coordError("BackendError", {
      reason: InfraError.transient({ operation: "bench.read", message: "the connection was lost" }),
    }),
  }),
];

compare("what to do about an error", {
  forms: {
    adviceFor: (call) => adviceFor(errors[call % errors.length]!),
    waitUntil: (call) => waitUntil(errors[call % errors.length]!),
  },
  bounds: [
    { form: "adviceFor", heapBytesAtMost: 0 },
    { form: "waitUntil", heapBytesAtMost: 0 },
  ],
});

const text = JSON.stringify(errors[0]);

compare("an error over the wire", {
  forms: { "JSON.stringify": () => JSON.stringify(errors[0]), parseCoordError: () => parseCoordError(text) },
});
