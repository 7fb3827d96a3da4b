import Type, { type Static, type TSchema } from "typebox";
import { Base64Url, Count, Id, names, RunStatusName, ShardStatusName, Tenant, U64 } from "./scalars.ts";

// What requests and responses are made of. An object that a request may contain is closed: an unknown field is refused.
const closed = { additionalProperties: false } as const;

/** How far a shard has been worked through. `{}` is its start. */
export const CursorWire = Type.Object(
  {
    key: Type.Optional(Type.String({ description: "The last key that was finished, if it is UTF-8." })),
    key64: Type.Optional(Base64Url),
    token: Type.Optional(Type.String({ description: "The worker's own bytes, if they are UTF-8." })),
    token64: Type.Optional(Base64Url),
  },
  { ...closed, title: "Cursor", description: "The last key that was finished. Send `key` or `key64`, not both." },
);
export type CursorWire = Static<typeof CursorWire>;

/** A range of keys with the metadata of its shard. An empty or missing bound is no bound. */
export const RangeWire = Type.Object(
  {
    start: Type.Optional(Type.String({ description: "The first key, if it is UTF-8." })),
    start64: Type.Optional(Base64Url),
    end: Type.Optional(Type.String({ description: "The first key above the range, if it is UTF-8." })),
    end64: Type.Optional(Base64Url),
    metadata64: Type.Optional(Base64Url),
  },
  { ...closed, title: "Range", description: "Keys from `start` up to, and without, `end`." },
);
export type RangeWire = Static<typeof RangeWire>;

/** The right to work on a shard. Send it back as it came. */
export const LeaseWire = Type.Object(
  { tenant: Tenant, run: Id, shard: Id, worker: Id, fence: U64, deadline: U64 },
  { ...closed, title: "Lease", description: "The right to work on a shard. Send it back as it came." },
);
export type LeaseWire = Static<typeof LeaseWire>;

export const CapacityWire = Type.Object(
  {
    available: Count,
    earliestDeadline: Type.Optional(U64),
    isStarved: Type.Boolean({ description: "Whether a worker found nothing to claim not long ago." }),
  },
  { title: "Capacity", description: "How much of the run can be claimed. Advice only." },
);
export type CapacityWire = Static<typeof CapacityWire>;

export const ConfigWire = Type.Object(
  {
    leaseDuration: U64,
    cursorSemantics: Type.Optional(names("Completed", "Dispatched")),
    maxShardRetries: Type.Optional(Type.Integer({ minimum: 0, maximum: 0xffff_ffff })),
  },
  { ...closed, title: "RunConfig" },
);
export type ConfigWire = Static<typeof ConfigWire>;

/** One remembered operation, as `?log=true` returns it. */
export const LoggedOpWire = Type.Object(
  {
    opId: Id,
    kind: Type.String(),
    result: Type.Optional(Type.String()),
    shards: Type.Optional(Type.Array(Id)),
    payloadHash: Id,
    executedAt: U64,
  },
  { title: "LoggedOp" },
);
export type LoggedOpWire = Static<typeof LoggedOpWire>;

export const RunWire = Type.Object(
  {
    tenant: Tenant,
    run: Id,
    status: RunStatusName,
    config: ConfigWire,
    createdAt: U64,
    completedAt: Type.Optional(U64),
    lastTime: U64,
    rootShards: Type.Array(Id),
    log: Type.Optional(Type.Array(LoggedOpWire)),
  },
  { title: "Run" },
);
export type RunWire = Static<typeof RunWire>;

export const ParkReasonName = names("PermissionDenied", "NotFound", "Poisoned", "TooManyErrors", "Other");

export const HolderWire = Type.Object({ worker: Id, deadline: U64, opId: Id }, { title: "Holder" });

/** All that is known of a shard. */
export const ShardWire = Type.Object(
  {
    tenant: Tenant,
    run: Id,
    shard: Id,
    status: ShardStatusName,
    parkReason: Type.Optional(ParkReasonName),
    range: RangeWire,
    cursor: CursorWire,
    cursorSemantics: names("Completed", "Dispatched"),
    holder: Type.Optional(HolderWire),
    fence: U64,
    parent: Type.Optional(Id),
    spawned: Type.Array(Id),
    lastTime: U64,
    attempts: Count,
    log: Type.Optional(Type.Array(LoggedOpWire)),
  },
  { title: "Shard" },
);
export type ShardWire = Static<typeof ShardWire>;

/** What a worker gets with its lease. */
export const SnapshotWire = Type.Object(
  {
    status: ShardStatusName,
    range: RangeWire,
    cursor: CursorWire,
    cursorSemantics: names("Completed", "Dispatched"),
    parent: Type.Optional(Id),
    spawned: Type.Array(Id),
  },
  { title: "Snapshot" },
);
export type SnapshotWire = Static<typeof SnapshotWire>;

/** A shard in a list. */
export const ShardSummaryWire = Type.Object(
  {
    shard: Id,
    status: ShardStatusName,
    parkReason: Type.Optional(ParkReasonName),
    isLeased: Type.Boolean(),
    leaseDeadline: Type.Optional(U64),
    acquireCount: Count,
    key: Type.Optional(Type.String()),
    key64: Type.Optional(Base64Url),
    range: RangeWire,
    parent: Type.Optional(Id),
    spawnedCount: Count,
  },
  { title: "ShardSummary" },
);
export type ShardSummaryWire = Static<typeof ShardSummaryWire>;

export const ProgressWire = Type.Object(
  {
    total: Count,
    active: Count,
    done: Count,
    split: Count,
    parked: Count,
    leased: Count,
    watermark: Type.Optional(Type.String()),
    watermark64: Type.Optional(Base64Url),
  },
  { title: "Progress" },
);
export type ProgressWire = Static<typeof ProgressWire>;

/** Advice that rides on a response. */
export const SignalsWire = Type.Array(names("split-wanted", "drain", "run-ended"), {
  title: "Signals",
  description:
    "`split-wanted`: other workers wait and nothing is left to claim. `drain`: this server is about to stop. `run-ended`: finish, and claim no more.",
});
export type SignalName = Static<typeof SignalsWire>[number];

export const OutcomeName = names("Executed", "Replayed");

/** An error, as every failed request and element has it. */
export const ErrorSchema: TSchema = Type.Object(
  {
    kind: Type.String(),
    message: Type.String(),
    advice: Type.Enum(["WaitUntil", "Reacquire", "RetrySameOpId", "Stop", "FixCaller", "Report"]),
    retryAfterMs: Type.Optional(Type.Integer()),
  },
  { title: "Error", description: "A typed error. The fields of each kind are listed in docs/reference/errors.md." },
);
