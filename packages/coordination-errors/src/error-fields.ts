import type { FenceEpoch, LogicalTime, OpId, RunId, RunStatus, ShardKey, ShardLimitScope } from "@gossip/contracts";
import type { ManifestValidationError, ShardStatus, SplitValidationError, TenantId, WorkerId } from "@gossip/contracts";
import type { Redacted, SlabFull } from "@gossip/stdx";
import type { ErrorKind, KindsOf } from "./error-routes.ts";
import type { InfraError } from "./infra-error.ts";

/**
 * Something that an error knows and does not show.
 *
 * `Redacted.reveal` reads it, deliberately. It gives `undefined` if the error was read from JSON: what is hidden does
 * not travel.
 */
export type Hidden<T> = Redacted<T | undefined>;

/** Nothing beyond the kind. */
type NoFields = Readonly<Record<never, never>>;

/** Why a run's configuration was refused. */
export interface RunConfigError {
  readonly kind: "ZeroLeaseDuration";
}

/** What a coordinator can run out of. A store that can run out of something else adds it here. */
export const EXHAUSTED_RESOURCES = [
  "tenant_shards_index",
  "tenant_shards",
  "run_shards_index",
  "run_shards_set",
  "shard_slab",
  "etcd_txn_ops",
] as const;

export type ExhaustedResource = (typeof EXHAUSTED_RESOURCES)[number];

/**
 * What each kind of error carries.
 *
 * Sizes, never key bytes. Identities of others and hashes are `Hidden`. An error that another one wraps is its
 * `reason`.
 */
export interface ErrorFields {
  ShardNotFound: { readonly shard: ShardKey };
  /** `expected` is the caller's own tenant. Whose shard it is, the error never knew. */
  TenantMismatch: { readonly expected: Hidden<TenantId> };
  /** Equal numbers mean that the epoch is right and its holder is not: the lease was given back, or is another's. */
  StaleFence: { readonly presented: FenceEpoch; readonly current: FenceEpoch };
  LeaseExpired: { readonly deadline: LogicalTime; readonly now: LogicalTime };
  ShardTerminal: { readonly shard: ShardKey; readonly status: ShardStatus };
  OpIdConflict: { readonly opId: OpId; readonly expectedHash: Hidden<bigint>; readonly actualHash: Hidden<bigint> };
  /** Sizes of the keys in bytes; `undefined` if there was no key. */
  CursorRegression: { readonly oldKey: number | undefined; readonly newKey: number | undefined };
  /** Sizes in bytes, 0 for a bound that is missing. */
  CursorOutOfBounds: { readonly lastKey: number; readonly specStart: number; readonly specEnd: number };
  CursorKeyTooLarge: { readonly size: number; readonly max: number };
  CursorTokenTooLarge: { readonly size: number; readonly max: number };
  SplitInvalid: { readonly reason: SplitValidationError };
  CheckpointMissingKey: NoFields;

  AlreadyLeased: { readonly currentOwner: Hidden<WorkerId>; readonly leaseDeadline: LogicalTime };
  /** `slab` holds the requested size if the slab of a shard operation was full. */
  ResourceExhausted: { readonly resource: ExhaustedResource; readonly slab: SlabFull | undefined };
  /** When the first lease of the run lapses; `undefined` if none is held, so that waiting is of no use. */
  NoneAvailable: { readonly earliestDeadline: LogicalTime | undefined };
  Throttled: { readonly retryAfter: LogicalTime };
  /** *Addition.* */
  SessionClosed: { readonly shard: ShardKey };

  RunNotFound: NoFields;
  RunTerminal: { readonly status: RunStatus };
  /** How many shards are in the way. *Addition.* */
  RunUnsettled: { readonly active: number; readonly parked: number };
  /** `target` is where the operation would have led; `undefined` for `deleteRun`, which leads nowhere (*addition*). */
  WrongStatus: { readonly status: RunStatus; readonly target: RunStatus | undefined };
  NotParked: { readonly status: ShardStatus };
  RunAlreadyExists: { readonly run: RunId };
  InvalidConfig: { readonly reason: RunConfigError };
  ConfigMismatch: { readonly run: RunId };
  ManifestInvalid: { readonly reason: ManifestValidationError };
  ShardLimitExceeded: {
    readonly current: number;
    readonly additional: number;
    readonly max: number;
    readonly scope: ShardLimitScope;
  };
  RegisterShardsFailed: { readonly reason: RunError<KindsOf<"registerShards">> };
  GetRunFailed: { readonly reason: RunError<KindsOf<"getRun">> };

  BackendError: { readonly reason: InfraError };
}

/** What every error value can do. Not part of its data: `structuredClone` and spread leave it behind. */
export interface ErrorMethods {
  /** A sentence for people. It shows nothing that is hidden. */
  readonly message: string;
  toString(): string;
  /** The form that `parseCoordError` reads back. */
  toJSON(): ErrorJson;
}

/** An error as JSON has it: u64s as 16 hex digits, `undefined` left out, hidden fields as the text that is shown. */
export interface ErrorJson {
  readonly kind: ErrorKind;
  readonly [field: string]: unknown;
}

/** An error of one of the given kinds; of any kind by default. */
export type ErrorOfKind<Kind extends ErrorKind = ErrorKind> = {
  [K in Kind]: ErrorMethods & { readonly kind: K } & ErrorFields[K];
}[Kind];

/** A conflict of op ids on a run. Unlike the one on a shard it has no hashes to reveal. */
export type RunOpIdConflict = ErrorMethods & { readonly kind: "OpIdConflict"; readonly opId: OpId };

/** `ErrorOfKind` as operations on runs have it. */
export type RunError<Kind extends ErrorKind> = {
  [K in Kind]: K extends "OpIdConflict" ? RunOpIdConflict : ErrorOfKind<K>;
}[Kind];
