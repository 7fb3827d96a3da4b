import type {
  FenceEpoch,
  LogicalTime,
  OpId,
  RunId,
  RunStatus,
  ShardId,
  ShardStatus,
  TenantId,
  WorkerId,
} from "@gossip/contracts";

/** Which shard. */
export interface ShardAddress {
  readonly tenant: TenantId;
  readonly run: RunId;
  readonly shard: ShardId;
}

/** Which run. */
export interface RunAddress {
  readonly tenant: TenantId;
  readonly run: RunId;
}

/** What is wrong with the children of a split shard. */
export type SplitFault = "EmptySpawned" | "MissingChildren" | "WrongParent" | "LostProgress";

/** How the ranges of a run's leaves fail to tile what was registered. */
export type CoverageFault = "Gap" | "Overlap" | "Outside";

/** How notes differ from what the records say must be noted. */
export type LedgerFault = "Missing" | "Stray" | "Twice";

/** What each kind of violation says. One entry here is one rule that can be broken. */
interface ViolationFields {
  /** S1: two holders of one shard at one time. */
  MutualExclusion: ShardAddress & { readonly workers: readonly [WorkerId, WorkerId] };
  /** S2: a fence went down. */
  FenceMonotonicity: ShardAddress & { readonly prev: FenceEpoch; readonly current: FenceEpoch };
  /** S3: a shard came back from its end. */
  TerminalIrreversibility: ShardAddress & { readonly was: ShardStatus; readonly now: ShardStatus };
  /** S3b: a shard was unparked without raising the fence of its last holder. */
  UnparkWithoutFenceBump: ShardAddress & { readonly fenceAtPark: FenceEpoch; readonly fenceAtUnpark: FenceEpoch };
  /** S4: a record is not in order. */
  RecordInvariant: ShardAddress & { readonly message: string };
  /** S5: a cursor went back, or went away. Sizes of keys, in bytes. */
  CursorMonotonicity: ShardAddress & { readonly prevSize: number; readonly currentSize: number | undefined };
  /** S6: a cursor left its range. */
  CursorOutOfBounds: ShardAddress;
  /** S7: a split shard and its children do not belong together. */
  SplitCoverage: ShardAddress & { readonly fault: SplitFault };
  /** A split made a shard under another id than its operation and position give it: a repetition would make it again. */
  DerivedId: ShardAddress & { readonly index: number };
  /** S8: a run came back from its end. */
  RunTerminalIrreversibility: RunAddress & { readonly was: RunStatus; readonly now: RunStatus };
  /** S9: a worker claimed again too soon. */
  CooldownViolation: {
    readonly worker: WorkerId;
    readonly thisClaim: LogicalTime;
    readonly prevClaim: LogicalTime;
    readonly minInterval: bigint;
  };
  /** V1: two workers wrote under one fence, or one wrote under a fence that had passed. */
  MutationStream: ShardAddress & {
    readonly fence: FenceEpoch;
    readonly owner: WorkerId;
    readonly latestFence: FenceEpoch;
  };
  /** V1: the leaves of a run do not tile what was registered. */
  CoverageConservation: RunAddress & { readonly fault: CoverageFault };
  /** P2: a run that has ended gave out, renewed, split or unparked a shard. */
  EndedRun: ShardAddress & { readonly status: RunStatus };
  /** P3: a run was completed while shards were active. */
  UnsettledRun: RunAddress & { readonly active: number };
  /** P6: a shard was given out once too often, or set aside with attempts left. */
  AttemptLimit: ShardAddress & { readonly attempts: number; readonly max: number };
  /** A write was accepted without a lease that allowed it. */
  UnauthorizedMutation: ShardAddress & {
    readonly fault: "NotActive" | "NoHolder" | "OtherFence" | "OtherOwner" | "Lapsed";
  };
  /** An operation that the log remembers was not answered as a replay. */
  ReplayRefused: ShardAddress & { readonly opId: OpId; readonly answer: string };
  /** The time of a record went back. */
  TimeRegression: ShardAddress & { readonly prev: LogicalTime; readonly current: LogicalTime };
  /** A shard of an existing run is missing. */
  ShardVanished: ShardAddress;
  /** The ledger is not exactly the failing items that were passed, or the details are not those of the parked shards. */
  Ledger: RunAddress & { readonly fault: LedgerFault };
  /** The coordinator returned something that contradicts its store or the request. */
  WrongAnswer: { readonly operation: string; readonly message: string };
  /** Something threw. */
  Thrown: { readonly message: string };
}

export type ViolationKind = keyof ViolationFields;

/** A rule that was broken, and where. Contains no keys. */
export type Violation<Kind extends ViolationKind = ViolationKind> = {
  [K in Kind]: { readonly kind: K } & ViolationFields[K];
}[Kind];

/** One line of text. */
export function formatViolation(violation: Violation): string {
  const { kind, ...fields } = violation;
  const parts = Object.entries(fields).map(([name, value]) => `${name} ${formatField(name, value)}`);
  return parts.length === 0 ? kind : `${kind}: ${parts.join(", ")}`;
}

function formatField(name: string, value: unknown): string {
  if (Array.isArray(value)) return value.map((item) => formatField(name, item)).join(" and ");
  if (typeof value !== "bigint") return name === "tenant" ? String(value).slice(0, 8) : String(value);
  return name === "shard" ? value.toString(16) : value.toString();
}
