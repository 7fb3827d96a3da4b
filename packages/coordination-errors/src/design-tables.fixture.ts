import type { ErrorKind, Operation } from "./error-routes.ts";

// The tables of the design document of this error model, copied by hand and on purpose not derived from anything here:
// they are what the code is held to.

/** Its matrix of `CoordError` kinds and leased operations. `-` is a kind that the operation rejects. */
const MATRIX = `
                      renew  checkpoint  complete  park  split
ShardNotFound         yes    yes         yes       yes   yes
TenantMismatch        yes    yes         yes       yes   yes
StaleFence            yes    yes         yes       yes   yes
LeaseExpired          yes    yes         yes       yes   yes
ShardTerminal         yes    yes         yes       yes   yes
OpIdConflict          -      yes         yes       yes   yes
CursorRegression      -      yes         yes       -     -
CursorOutOfBounds     -      yes         yes       -     -
CursorKeyTooLarge     -      yes         yes       -     -
CursorTokenTooLarge   -      yes         yes       -     -
SplitInvalid          -      -           -         -     yes
CheckpointMissingKey  -      yes         yes       -     -
`;

export interface MatrixCell {
  readonly kind: ErrorKind;
  readonly operation: Operation;
  readonly isAccepted: boolean;
}

export const MATRIX_CELLS: readonly MatrixCell[] = readMatrix();

function readMatrix(): readonly MatrixCell[] {
  const [header, ...rows] = MATRIX.trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/));
  return rows.flatMap(([kind, ...cells]) =>
    cells.map((cell, column) => ({
      kind: kind as ErrorKind,
      operation: header![column] as Operation,
      isAccepted: cell === "yes",
    })),
  );
}

/** An error type of the document: which operations return it here, how many variants it has, and which. */
export interface DocumentedUnion {
  readonly type: string;
  readonly operations: readonly Operation[];
  readonly variantCount: number;
  readonly kinds: readonly ErrorKind[];
  /** What `decisions` added to it since. */
  readonly additions: readonly ErrorKind[];
}

const LEASED: readonly ErrorKind[] = ["ShardNotFound", "TenantMismatch", "StaleFence", "LeaseExpired", "ShardTerminal"];
const CURSOR: readonly ErrorKind[] = [
  "CursorRegression",
  "CursorOutOfBounds",
  "CursorKeyTooLarge",
  "CursorTokenTooLarge",
  "CheckpointMissingKey",
];

export const DOCUMENTED_UNIONS: readonly DocumentedUnion[] = [
  {
    type: "AcquireError",
    operations: ["acquire"],
    variantCount: 5,
    kinds: ["ShardNotFound", "TenantMismatch", "ShardTerminal", "AlreadyLeased", "BackendError"],
    additions: ["RunTerminal"],
  },
  {
    type: "RenewError",
    operations: ["renew"],
    variantCount: 6,
    kinds: [...LEASED, "BackendError"],
    additions: ["RunTerminal"],
  },
  {
    type: "CheckpointError",
    operations: ["checkpoint"],
    variantCount: 13,
    kinds: [...LEASED, "OpIdConflict", ...CURSOR, "ResourceExhausted", "BackendError"],
    additions: [],
  },
  {
    type: "CompleteError",
    operations: ["complete"],
    variantCount: 13,
    kinds: [...LEASED, "OpIdConflict", ...CURSOR, "ResourceExhausted", "BackendError"],
    additions: [],
  },
  {
    type: "ParkError",
    operations: ["park"],
    variantCount: 7,
    kinds: [...LEASED, "OpIdConflict", "BackendError"],
    additions: [],
  },
  {
    type: "SplitError",
    operations: ["split"],
    variantCount: 9,
    kinds: [...LEASED, "OpIdConflict", "SplitInvalid", "ResourceExhausted", "BackendError"],
    additions: ["RunTerminal"],
  },
  {
    type: "CreateRunError",
    operations: ["createRun", "createRunWithShards"],
    variantCount: 6,
    kinds: [
      "InvalidConfig",
      "RunAlreadyExists",
      "RegisterShardsFailed",
      "GetRunFailed",
      "ConfigMismatch",
      "BackendError",
    ],
    additions: [],
  },
  {
    type: "RegisterShardsError",
    operations: ["registerShards"],
    variantCount: 8,
    kinds: [
      "RunNotFound",
      "TenantMismatch",
      "WrongStatus",
      "ManifestInvalid",
      "OpIdConflict",
      "ShardLimitExceeded",
      "ResourceExhausted",
      "BackendError",
    ],
    additions: [],
  },
  {
    type: "GetRunError",
    operations: ["getRun"],
    variantCount: 3,
    kinds: ["RunNotFound", "TenantMismatch", "BackendError"],
    additions: [],
  },
  {
    type: "RunTransitionError",
    operations: ["completeRun", "failRun", "cancelRun"],
    variantCount: 6,
    kinds: ["RunNotFound", "TenantMismatch", "RunTerminal", "WrongStatus", "OpIdConflict", "BackendError"],
    additions: ["RunUnsettled"],
  },
  {
    type: "UnparkError",
    operations: ["unpark"],
    variantCount: 6,
    kinds: ["ShardNotFound", "TenantMismatch", "RunTerminal", "NotParked", "OpIdConflict", "BackendError"],
    additions: [],
  },
  {
    type: "ClaimError",
    operations: ["claim"],
    variantCount: 5,
    kinds: ["NoneAvailable", "RunNotFound", "TenantMismatch", "Throttled", "BackendError"],
    additions: ["RunTerminal"],
  },
];

/** Operations that the document does not have. All that they can answer is an addition. */
export const ADDED_OPERATIONS: Readonly<Partial<Record<Operation, readonly ErrorKind[]>>> = {
  release: [...LEASED, "OpIdConflict", "BackendError"],
  deleteRun: ["RunNotFound", "TenantMismatch", "WrongStatus", "BackendError"],
  session: ["SessionClosed"],
};
