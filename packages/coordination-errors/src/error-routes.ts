/** Every operation, the ones on shards first. `split` is both `splitReplace` and `splitResidual`. */
export const OPERATIONS = [
  "acquire",
  "claim",
  "renew",
  "checkpoint",
  "complete",
  "park",
  "release",
  "split",
  "session",
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

/**
 * What can fail. `session` is whatever is asked of a worker session, beyond the
 * operation that it passes on; `getRun` stands for every query of one run.
 */
export type Operation = (typeof OPERATIONS)[number];

// Whether an operation can fail in that way. `add` says that it can, and that the design documents did not
// have it: the tests count those apart.
const yes = "yes";
const add = "addition";
const no = "no";

export type Route = typeof yes | typeof add | typeof no;

/**
 * Which operation can fail in which way.
 *
 * This table is the source of every error type: a row is a kind, and a kind does
 * not compile until each operation has said whether it can produce it, what the
 * kind carries, what it says, and what a caller should do about it.
 */
export const ERROR_ROUTES = {
  // The twelve kinds of `CoordError`, which the checks of leased operations share.
  ShardNotFound: {
    acquire: yes, claim: no,  renew: yes, checkpoint: yes, complete: yes, park: yes, release: add, split: yes, session: no,
    createRun: no,  createRunWithShards: no,  registerShards: no,  getRun: no,  completeRun: no,  failRun: no,  cancelRun: no,  unpark: yes, deleteRun: no,
  },
  TenantMismatch: {
    acquire: yes, claim: yes, renew: yes, checkpoint: yes, complete: yes, park: yes, release: add, split: yes, session: no,
    createRun: no,  createRunWithShards: no,  registerShards: yes, getRun: yes, completeRun: yes, failRun: yes, cancelRun: yes, unpark: yes, deleteRun: add,
  },
  StaleFence: {
    acquire: no,  claim: no,  renew: yes, checkpoint: yes, complete: yes, park: yes, release: add, split: yes, session: no,
    createRun: no,  createRunWithShards: no,  registerShards: no,  getRun: no,  completeRun: no,  failRun: no,  cancelRun: no,  unpark: no,  deleteRun: no,
  },
  LeaseExpired: {
    acquire: no,  claim: no,  renew: yes, checkpoint: yes, complete: yes, park: yes, release: add, split: yes, session: no,
    createRun: no,  createRunWithShards: no,  registerShards: no,  getRun: no,  completeRun: no,  failRun: no,  cancelRun: no,  unpark: no,  deleteRun: no,
  },
  ShardTerminal: {
    acquire: yes, claim: no,  renew: yes, checkpoint: yes, complete: yes, park: yes, release: add, split: yes, session: no,
    createRun: no,  createRunWithShards: no,  registerShards: no,  getRun: no,  completeRun: no,  failRun: no,  cancelRun: no,  unpark: no,  deleteRun: no,
  },
  OpIdConflict: {
    acquire: no,  claim: no,  renew: no,  checkpoint: yes, complete: yes, park: yes, release: add, split: yes, session: no,
    createRun: no,  createRunWithShards: no,  registerShards: yes, getRun: no,  completeRun: yes, failRun: yes, cancelRun: yes, unpark: yes, deleteRun: no,
  },
  CursorRegression: {
    acquire: no,  claim: no,  renew: no,  checkpoint: yes, complete: yes, park: no,  release: no,  split: no,  session: no,
    createRun: no,  createRunWithShards: no,  registerShards: no,  getRun: no,  completeRun: no,  failRun: no,  cancelRun: no,  unpark: no,  deleteRun: no,
  },
  CursorOutOfBounds: {
    acquire: no,  claim: no,  renew: no,  checkpoint: yes, complete: yes, park: no,  release: no,  split: no,  session: no,
    createRun: no,  createRunWithShards: no,  registerShards: no,  getRun: no,  completeRun: no,  failRun: no,  cancelRun: no,  unpark: no,  deleteRun: no,
  },
  CursorKeyTooLarge: {
    acquire: no,  claim: no,  renew: no,  checkpoint: yes, complete: yes, park: no,  release: no,  split: no,  session: no,
    createRun: no,  createRunWithShards: no,  registerShards: no,  getRun: no,  completeRun: no,  failRun: no,  cancelRun: no,  unpark: no,  deleteRun: no,
  },
  CursorTokenTooLarge: {
    acquire: no,  claim: no,  renew: no,  checkpoint: yes, complete: yes, park: no,  release: no,  split: no,  session: no,
    createRun: no,  createRunWithShards: no,  registerShards: no,  getRun: no,  completeRun: no,  failRun: no,  cancelRun: no,  unpark: no,  deleteRun: no,
  },
  SplitInvalid: {
    acquire: no,  claim: no,  renew: no,  checkpoint: no,  complete: no,  park: no,  release: no,  split: yes, session: no,
    createRun: no,  createRunWithShards: no,  registerShards: no,  getRun: no,  completeRun: no,  failRun: no,  cancelRun: no,  unpark: no,  deleteRun: no,
  },
  CheckpointMissingKey: {
    acquire: no,  claim: no,  renew: no,  checkpoint: yes, complete: yes, park: no,  release: no,  split: no,  session: no,
    createRun: no,  createRunWithShards: no,  registerShards: no,  getRun: no,  completeRun: no,  failRun: no,  cancelRun: no,  unpark: no,  deleteRun: no,
  },

  // Not from those checks.
  AlreadyLeased: {
    acquire: yes, claim: no,  renew: no,  checkpoint: no,  complete: no,  park: no,  release: no,  split: no,  session: no,
    createRun: no,  createRunWithShards: no,  registerShards: no,  getRun: no,  completeRun: no,  failRun: no,  cancelRun: no,  unpark: no,  deleteRun: no,
  },
  ResourceExhausted: {
    acquire: no,  claim: no,  renew: no,  checkpoint: yes, complete: yes, park: no,  release: no,  split: yes, session: no,
    createRun: no,  createRunWithShards: no,  registerShards: yes, getRun: no,  completeRun: no,  failRun: no,  cancelRun: no,  unpark: no,  deleteRun: no,
  },
  NoneAvailable: {
    acquire: no,  claim: yes, renew: no,  checkpoint: no,  complete: no,  park: no,  release: no,  split: no,  session: no,
    createRun: no,  createRunWithShards: no,  registerShards: no,  getRun: no,  completeRun: no,  failRun: no,  cancelRun: no,  unpark: no,  deleteRun: no,
  },
  Throttled: {
    acquire: no,  claim: yes, renew: no,  checkpoint: no,  complete: no,  park: no,  release: no,  split: no,  session: no,
    createRun: no,  createRunWithShards: no,  registerShards: no,  getRun: no,  completeRun: no,  failRun: no,  cancelRun: no,  unpark: no,  deleteRun: no,
  },
  SessionClosed: {
    acquire: no,  claim: no,  renew: no,  checkpoint: no,  complete: no,  park: no,  release: no,  split: no,  session: add,
    createRun: no,  createRunWithShards: no,  registerShards: no,  getRun: no,  completeRun: no,  failRun: no,  cancelRun: no,  unpark: no,  deleteRun: no,
  },

  // Runs.
  RunNotFound: {
    acquire: no,  claim: yes, renew: no,  checkpoint: no,  complete: no,  park: no,  release: no,  split: no,  session: no,
    createRun: no,  createRunWithShards: no,  registerShards: yes, getRun: yes, completeRun: yes, failRun: yes, cancelRun: yes, unpark: no,  deleteRun: add,
  },
  RunTerminal: {
    acquire: add, claim: add, renew: add, checkpoint: no,  complete: no,  park: no,  release: no,  split: add, session: no,
    createRun: no,  createRunWithShards: no,  registerShards: no,  getRun: no,  completeRun: yes, failRun: yes, cancelRun: yes, unpark: yes, deleteRun: no,
  },
  RunUnsettled: {
    acquire: no,  claim: no,  renew: no,  checkpoint: no,  complete: no,  park: no,  release: no,  split: no,  session: no,
    createRun: no,  createRunWithShards: no,  registerShards: no,  getRun: no,  completeRun: add, failRun: no,  cancelRun: no,  unpark: no,  deleteRun: no,
  },
  WrongStatus: {
    acquire: no,  claim: no,  renew: no,  checkpoint: no,  complete: no,  park: no,  release: no,  split: no,  session: no,
    createRun: no,  createRunWithShards: no,  registerShards: yes, getRun: no,  completeRun: yes, failRun: yes, cancelRun: no,  unpark: no,  deleteRun: add,
  },
  NotParked: {
    acquire: no,  claim: no,  renew: no,  checkpoint: no,  complete: no,  park: no,  release: no,  split: no,  session: no,
    createRun: no,  createRunWithShards: no,  registerShards: no,  getRun: no,  completeRun: no,  failRun: no,  cancelRun: no,  unpark: yes, deleteRun: no,
  },
  RunAlreadyExists: {
    acquire: no,  claim: no,  renew: no,  checkpoint: no,  complete: no,  park: no,  release: no,  split: no,  session: no,
    createRun: yes, createRunWithShards: yes, registerShards: no,  getRun: no,  completeRun: no,  failRun: no,  cancelRun: no,  unpark: no,  deleteRun: no,
  },
  InvalidConfig: {
    acquire: no,  claim: no,  renew: no,  checkpoint: no,  complete: no,  park: no,  release: no,  split: no,  session: no,
    createRun: yes, createRunWithShards: yes, registerShards: no,  getRun: no,  completeRun: no,  failRun: no,  cancelRun: no,  unpark: no,  deleteRun: no,
  },
  ConfigMismatch: {
    acquire: no,  claim: no,  renew: no,  checkpoint: no,  complete: no,  park: no,  release: no,  split: no,  session: no,
    createRun: no,  createRunWithShards: yes, registerShards: no,  getRun: no,  completeRun: no,  failRun: no,  cancelRun: no,  unpark: no,  deleteRun: no,
  },
  ManifestInvalid: {
    acquire: no,  claim: no,  renew: no,  checkpoint: no,  complete: no,  park: no,  release: no,  split: no,  session: no,
    createRun: no,  createRunWithShards: no,  registerShards: yes, getRun: no,  completeRun: no,  failRun: no,  cancelRun: no,  unpark: no,  deleteRun: no,
  },
  ShardLimitExceeded: {
    acquire: no,  claim: no,  renew: no,  checkpoint: no,  complete: no,  park: no,  release: no,  split: no,  session: no,
    createRun: no,  createRunWithShards: no,  registerShards: yes, getRun: no,  completeRun: no,  failRun: no,  cancelRun: no,  unpark: no,  deleteRun: no,
  },
  RegisterShardsFailed: {
    acquire: no,  claim: no,  renew: no,  checkpoint: no,  complete: no,  park: no,  release: no,  split: no,  session: no,
    createRun: no,  createRunWithShards: yes, registerShards: no,  getRun: no,  completeRun: no,  failRun: no,  cancelRun: no,  unpark: no,  deleteRun: no,
  },
  GetRunFailed: {
    acquire: no,  claim: no,  renew: no,  checkpoint: no,  complete: no,  park: no,  release: no,  split: no,  session: no,
    createRun: no,  createRunWithShards: yes, registerShards: no,  getRun: no,  completeRun: no,  failRun: no,  cancelRun: no,  unpark: no,  deleteRun: no,
  },

  // The store.
  BackendError: {
    acquire: yes, claim: yes, renew: yes, checkpoint: yes, complete: yes, park: yes, release: add, split: yes, session: no,
    createRun: yes, createRunWithShards: yes, registerShards: yes, getRun: yes, completeRun: yes, failRun: yes, cancelRun: yes, unpark: yes, deleteRun: add,
  },
} as const satisfies Readonly<Record<string, Readonly<Record<Operation, Route>>>>;

/** The name of a way to fail. */
export type ErrorKind = keyof typeof ERROR_ROUTES;

/** The kinds that `Op` can produce. */
export type KindsOf<Op extends Operation> = {
  [K in ErrorKind]: (typeof ERROR_ROUTES)[K][Op] extends typeof no ? never : K;
}[ErrorKind];

/** The kinds that the checks shared by leased operations can produce. */
export const COORD_ERROR_KINDS = [
  "ShardNotFound",
  "TenantMismatch",
  "StaleFence",
  "LeaseExpired",
  "ShardTerminal",
  "OpIdConflict",
  "CursorRegression",
  "CursorOutOfBounds",
  "CursorKeyTooLarge",
  "CursorTokenTooLarge",
  "SplitInvalid",
  "CheckpointMissingKey",
] as const satisfies readonly ErrorKind[];

export type CoordErrorKind = (typeof COORD_ERROR_KINDS)[number];
