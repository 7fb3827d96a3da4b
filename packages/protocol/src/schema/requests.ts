import { MAX_CLAIM_COUNT } from "@gossip/coordination";
import Type, { type Static, type TSchema } from "typebox";
import { DetailElement, FailureElement, MAX_FAILURES } from "./notes.ts";
import {
  CapacityWire,
  ConfigWire,
  CursorWire,
  ErrorSchema,
  LeaseWire,
  OutcomeName,
  ParkReasonName,
  ProgressWire,
  RangeWire,
  RunWire,
  ShardSummaryWire,
  ShardWire,
  SignalsWire,
  SnapshotWire,
} from "./records.ts";
import { Base64Url, Count, Id, Tenant, U64 } from "./scalars.ts";

const closed = { additionalProperties: false } as const;

/** Left out, it is the only tenant of the token. */
const ofTenant = { tenant: Type.Optional(Tenant) };
const leased = { lease: LeaseWire };
const logged = { lease: LeaseWire, opId: Id };
const signals = { signals: Type.Optional(SignalsWire) };

const failures = Type.Optional(Type.Array(FailureElement, { maxItems: MAX_FAILURES }));

// Elements of the batched calls.

export const ClaimElement = Type.Object(
  {
    ...ofTenant,
    run: Id,
    worker: Id,
    opId: Id,
    count: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_CLAIM_COUNT })),
    markStarved: Type.Optional(Type.Boolean()),
    isRepeat: Type.Optional(
      Type.Boolean({ description: "The answer to this op id was lost: look for its leases first." }),
    ),
  },
  closed,
);
export const AcquireElement = Type.Object({ ...ofTenant, run: Id, shard: Id, worker: Id, opId: Id }, closed);
export const RenewElement = Type.Object(leased, closed);
export const CheckpointElement = Type.Object(
  { ...logged, cursor: CursorWire, renew: Type.Optional(Type.Boolean()), failures },
  closed,
);
export const CompleteElement = Type.Object(
  {
    ...logged,
    failures,
    cursor: Type.Optional(CursorWire),
    isExhausted: Type.Optional(
      Type.Literal(true, { description: "The range holds no more items. Instead of `cursor`." }),
    ),
  },
  closed,
);
export const ParkElement = Type.Object(
  { ...logged, reason: ParkReasonName, detail: Type.Optional(DetailElement) },
  closed,
);
export const ReleaseElement = Type.Object(logged, closed);
export const ChildWire = Type.Object({ range: RangeWire, cursor: Type.Optional(CursorWire) }, closed);
export const SplitReplaceElement = Type.Object(
  { ...logged, children: Type.Array(ChildWire, { minItems: 2, maxItems: 256 }) },
  closed,
);
export const SplitResidualElement = Type.Object({ ...logged, range: RangeWire, residual: RangeWire }, closed);

/** The most elements of one call. */
export const MAX_ELEMENTS = 1_000;

const column = <Item extends TSchema>(item: Item, description: string) =>
  Type.Array(item, { minItems: 1, maxItems: MAX_ELEMENTS, description });

/** Checkpoints of one worker in one run, as columns of the same length. */
export const CheckpointManyBody = Type.Object(
  {
    ...ofTenant,
    run: Id,
    worker: Id,
    renew: Type.Optional(Type.Boolean()),
    shards: column(Id, "The shard of each checkpoint."),
    fences: column(U64, "The fence of each lease."),
    opIds: column(Id, "The op id of each checkpoint."),
    cursors: column(
      Type.Union([Type.String(), CursorWire]),
      "Each cursor: a `Cursor`, or its `key` if it has no token.",
    ),
  },
  closed,
);

// Their results.

export const SessionWire = Type.Object(
  {
    lease: LeaseWire,
    shard: SnapshotWire,
    capacity: CapacityWire,
    isReplay: Type.Boolean(),
    attempts: Type.Integer({ description: "Acquisitions since the cursor last advanced, this one included." }),
    maxFailures: Type.Optional(
      Type.Integer({ description: `The most failures of one checkpoint, if that is fewer than ${MAX_FAILURES}.` }),
    ),
  },
  { title: "Session" },
);
export type SessionWire = Static<typeof SessionWire>;
export const ClaimOk = Type.Object({ sessions: Type.Array(SessionWire), ...signals });
export const AcquireOk = Type.Object({ ...SessionWire.properties, ...signals });
export const RenewOk = Type.Object({ deadline: U64, capacity: CapacityWire, ...signals });
export const CheckpointOk = Type.Object({
  outcome: OutcomeName,
  deadline: Type.Optional(U64),
  capacity: CapacityWire,
  ...signals,
});
export const CheckpointManyOk = Type.Object({
  done: Type.Optional(CheckpointOk),
  others: Type.Optional(
    Type.Array(
      Type.Object({
        index: Type.Integer({ minimum: 0, description: "Which checkpoint." }),
        ok: Type.Optional(CheckpointOk),
        error: Type.Optional(ErrorSchema),
        status: Type.Optional(Type.Integer()),
      }),
      { description: "The results that differ from `done`. Each has `ok`, or `error` and `status`." },
    ),
  ),
});
export const OutcomeOk = Type.Object({ outcome: OutcomeName, ...signals });
export const SplitReplaceOk = Type.Object({ outcome: OutcomeName, children: Type.Array(Id), ...signals });
export const SplitResidualOk = Type.Object({ outcome: OutcomeName, residual: Id, ...signals });

// Runs and shards.

export const NewShardWire = Type.Object({ shard: Id, range: RangeWire, cursor: Type.Optional(CursorWire) }, closed);
export const CreateRunBody = Type.Object(
  {
    ...ofTenant,
    run: Id,
    config: ConfigWire,
    shards: Type.Optional(Type.Array(NewShardWire, { maxItems: 10_001 })),
    opId: Type.Optional(Id),
  },
  closed,
);
export const RegisterShardsBody = Type.Object(
  {
    ...ofTenant,
    opId: Id,
    shards: Type.Array(NewShardWire, { maxItems: 10_001 }),
    more: Type.Optional(Type.Boolean()),
  },
  closed,
);
export const CompleteRunBody = Type.Object(
  { ...ofTenant, opId: Id, acceptParked: Type.Optional(Type.Boolean()), force: Type.Optional(Type.Boolean()) },
  closed,
);
export const OpIdBody = Type.Object({ ...ofTenant, opId: Id }, closed);

export const RunOk = Type.Object({ run: RunWire, outcome: Type.Optional(OutcomeName) });
export const RegisteredOk = Type.Object({ outcome: OutcomeName, shards: Type.Array(Id) });
export const RunLookupOk = Type.Object({
  run: Type.Optional(RunWire),
  isDeleted: Type.Optional(Type.Literal(true, { description: "There was such a run. Its id cannot be used again." })),
});
export const ListRecordsOk = Type.Object({ shards: Type.Array(ShardWire), next: Type.Optional(Base64Url) });
export const ShardOk = Type.Object({ shard: Type.Optional(ShardWire) });
export const EmptyOk = Type.Object({});
/** Only nodes of a cluster send it. */
const others = {
  otherOwners: Type.Optional(
    Type.Array(Type.String(), { description: "The addresses of nodes that have the rest of the list." }),
  ),
};
export const ListRunsOk = Type.Object({ runs: Type.Array(RunWire), next: Type.Optional(Id), ...others });
export const ListShardsOk = Type.Object({ shards: Type.Array(ShardSummaryWire), next: Type.Optional(Base64Url) });
export const ListTenantsOk = Type.Object({ tenants: Type.Array(Tenant), next: Type.Optional(Tenant), ...others });
export const ProgressOk = Type.Object({ progress: ProgressWire });
export const CapacityOk = Type.Object({ capacity: CapacityWire });
export const EstimateOk = Type.Object({ fraction: Type.Number({ minimum: 0, maximum: 1 }), shardCount: Count });
export const CandidatesOk = Type.Object({ shards: Type.Array(Id), earliestDeadline: Type.Optional(U64) });
export const TimestampOk = Type.Object({ timestamp: U64, count: Count });

// Queries: every value is text.

const flag = Type.Optional(Type.Enum(["true", "false"]));
const digits = Type.Optional(Type.String({ pattern: "^[0-9]{1,6}$" }));
export const TenantQuery = Type.Object(ofTenant, closed);
export const LogQuery = Type.Object({ ...ofTenant, log: flag }, closed);
export const ListRunsQuery = Type.Object({ ...ofTenant, limit: digits, after: Type.Optional(Id) }, closed);
export const ListTenantsQuery = Type.Object({ limit: digits, after: Type.Optional(Tenant) }, closed);
const ofShards = {
  ...ofTenant,
  limit: digits,
  after: Type.Optional(Base64Url),
  status: Type.Optional(Type.Enum(["Active", "Done", "Split", "Parked"])),
  isLeased: flag,
  rootOnly: flag,
};
export const ListShardsQuery = Type.Object(ofShards, closed);
export const ListRecordsQuery = Type.Object({ ...ofShards, log: flag }, closed);
export const EventsQuery = Type.Object(
  { ...ofTenant, run: Type.Optional(Id), after: Type.Optional(Type.String()) },
  closed,
);
export const TimestampQuery = Type.Object({ count: digits }, closed);
