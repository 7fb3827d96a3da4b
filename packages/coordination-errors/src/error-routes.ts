const SHARD_OPERATIONS = [
  "acquire",
  "claim",
  "renew",
  "checkpoint",
  "complete",
  "park",
  "release",
  "split",
  "session",
] as const;

const RUN_OPERATIONS = [
  "createRun",
  "createRunWithShards",
  "registerShards",
  "getRun",
  "completeRun",
  "failRun",
  "cancelRun",
  "unpark",
  "deleteRun",
] as const;

/** Every operation, the ones on shards first. `split` is both `splitReplace` and `splitResidual`. */
export const OPERATIONS = [...SHARD_OPERATIONS, ...RUN_OPERATIONS] as const;

/**
 * What can fail. `session` is whatever is asked of a worker session, beyond the operation that it passes on; `getRun`
 * stands for every query of one run.
 */
export type Operation = (typeof OPERATIONS)[number];

/** The operations that the run's own op-log makes idempotent, or that need no op id. */
export type RunOperation = (typeof RUN_OPERATIONS)[number];

// Whether an operation can return that kind. `add` means that it can, and that the design documents did not have it:
// the tests count those apart.
const yes = "yes";
const add = "addition";
const ___ = "no";

export type Route = typeof yes | typeof add | typeof ___;

/** A column for each operation, in the order of `OPERATIONS`. */
export type Row = RowOf<typeof OPERATIONS>;
type RowOf<Columns extends readonly Operation[]> = { readonly [C in keyof Columns]: Route };

// The kinds of `CoordError`, which the checks of leased operations share.
// prettier-ignore
const COORD_ROWS = {
  //                     acqu clai rene chec comp park rele spli sess crea crSh regi getR coRu fail canc unpa dele
  ShardNotFound: [       yes, ___, yes, yes, yes, yes, add, yes, ___, ___, ___, ___, ___, ___, ___, ___, yes, ___],
  TenantMismatch: [      yes, yes, yes, yes, yes, yes, add, yes, ___, ___, ___, yes, yes, yes, yes, yes, yes, add],
  StaleFence: [          ___, ___, yes, yes, yes, yes, add, yes, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___],
  LeaseExpired: [        ___, ___, yes, yes, yes, yes, add, yes, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___],
  ShardTerminal: [       yes, ___, yes, yes, yes, yes, add, yes, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___],
  OpIdConflict: [        ___, ___, ___, yes, yes, yes, add, yes, ___, ___, ___, yes, ___, yes, yes, yes, yes, ___],
  CursorRegression: [    ___, ___, ___, yes, yes, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___],
  CursorOutOfBounds: [   ___, ___, ___, yes, yes, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___],
  CursorKeyTooLarge: [   ___, ___, ___, yes, yes, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___],
  CursorTokenTooLarge: [ ___, ___, ___, yes, yes, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___],
  SplitInvalid: [        ___, ___, ___, ___, ___, ___, ___, yes, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___],
  CheckpointMissingKey: [___, ___, ___, yes, yes, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___],
} as const satisfies Readonly<Record<string, Row>>;

// prettier-ignore
const ROWS = {
  ...COORD_ROWS,
  //                     acqu clai rene chec comp park rele spli sess crea crSh regi getR coRu fail canc unpa dele
  AlreadyLeased: [       yes, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___],
  ResourceExhausted: [   ___, ___, ___, yes, yes, ___, ___, yes, ___, ___, ___, yes, ___, ___, ___, ___, ___, ___],
  NoneAvailable: [       ___, yes, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___],
  Throttled: [           ___, yes, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___],
  SessionClosed: [       ___, ___, ___, ___, ___, ___, ___, ___, add, ___, ___, ___, ___, ___, ___, ___, ___, ___],

  // Runs.
  RunNotFound: [         ___, yes, ___, ___, ___, ___, ___, ___, ___, ___, ___, yes, yes, yes, yes, yes, ___, add],
  RunTerminal: [         add, add, add, ___, ___, ___, ___, add, ___, ___, ___, ___, ___, yes, yes, yes, yes, ___],
  RunUnsettled: [        ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, add, ___, ___, ___, ___],
  WrongStatus: [         ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, yes, ___, yes, yes, ___, ___, add],
  NotParked: [           ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, yes, ___],
  RunAlreadyExists: [    ___, ___, ___, ___, ___, ___, ___, ___, ___, yes, yes, ___, ___, ___, ___, ___, ___, ___],
  InvalidConfig: [       ___, ___, ___, ___, ___, ___, ___, ___, ___, yes, yes, ___, ___, ___, ___, ___, ___, ___],
  ConfigMismatch: [      ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, yes, ___, ___, ___, ___, ___, ___, ___],
  ManifestInvalid: [     ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, yes, ___, ___, ___, ___, ___, ___],
  ShardLimitExceeded: [  ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, yes, ___, ___, ___, ___, ___, ___],
  RegisterShardsFailed: [___, ___, ___, ___, ___, ___, ___, ___, ___, ___, yes, ___, ___, ___, ___, ___, ___, ___],
  GetRunFailed: [        ___, ___, ___, ___, ___, ___, ___, ___, ___, ___, yes, ___, ___, ___, ___, ___, ___, ___],

  // The store.
  BackendError: [        yes, yes, yes, yes, yes, yes, add, yes, ___, yes, yes, yes, yes, yes, yes, yes, yes, add],
} as const satisfies Readonly<Record<string, Row>>;

type Column = Exclude<keyof typeof OPERATIONS, keyof (readonly unknown[])>;

/**
 * Which operation can fail in which way.
 *
 * This table is the source of every error type: a row is a kind, and a kind does not compile until each operation
 * states whether it can produce it, what the kind contains, its message, and what a caller should do about it.
 */
export const ERROR_ROUTES = /* @__PURE__ */ Object.fromEntries(
  /* @__PURE__ */ Object.entries(ROWS).map(([kind, row]) => [
    kind,
    Object.fromEntries(OPERATIONS.map((operation, column) => [operation, row[column]])),
  ]),
) as {
  readonly [Kind in keyof typeof ROWS]: {
    readonly [C in Column as (typeof OPERATIONS)[C]]: (typeof ROWS)[Kind][C];
  };
};

/** The name of a way to fail. */
export type ErrorKind = keyof typeof ERROR_ROUTES;

/** The kinds that `Op` can produce. */
export type KindsOf<Op extends Operation> = {
  [K in ErrorKind]: (typeof ERROR_ROUTES)[K][Op] extends "no" ? never : K;
}[ErrorKind];

/** The kinds that the checks shared by leased operations can produce. */
export const COORD_ERROR_KINDS: readonly CoordErrorKind[] = /* @__PURE__ */ Object.keys(COORD_ROWS) as CoordErrorKind[];

export type CoordErrorKind = keyof typeof COORD_ROWS;
