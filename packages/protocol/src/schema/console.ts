import Type, { type Static } from "typebox";
import { SettingsWire } from "./notes.ts";
import { OutcomeName, ParkReasonName } from "./records.ts";
import { Base64Url, Count, Id, names, RunStatusName, Tenant } from "./scalars.ts";

// What the web console shows. Times are numbers of milliseconds, and keys are texts that are ready to show.

const closed = { additionalProperties: false } as const;
const ofTenant = { tenant: Type.Optional(Tenant) };
const Ms = Type.Number({ description: "Milliseconds since 1970." });
const Position = Type.Number({ minimum: 0, maximum: 1, description: "A place on the run's key axis." });

export const ShownKeyWire = Type.Object(
  { text: Type.String(), size: Count, position: Position },
  { title: "ShownKey", description: "A key in the form of its source, with its size and its place on the key axis." },
);
export type ShownKeyWire = Static<typeof ShownKeyWire>;

const LeafStateName = names("done", "leased", "waiting", "parked");
const ShardStateName = names("done", "leased", "waiting", "parked", "split");
export const StateCountsWire = Type.Object(
  { done: Count, leased: Count, waiting: Count, parked: Count, split: Count },
  { title: "StateCounts" },
);

const runRow = {
  tenant: Tenant,
  run: Id,
  name: Type.Optional(Type.String()),
  source: Type.Optional(Type.String()),
  work: Type.Optional(Type.String()),
  status: RunStatusName,
  createdAtMs: Ms,
  completedAtMs: Type.Optional(Ms),
  shards: StateCountsWire,
  items: Type.Optional(Count),
  fraction: Type.Optional(Type.Number()),
  perSecond: Type.Optional(Type.Number()),
  remainingMs: Type.Optional(Type.Number()),
  failures: Count,
  workers: Count,
  isPaused: Type.Boolean(),
  isCounted: Type.Boolean(),
};
export const RunRowWire = Type.Object(runRow, { title: "RunRow" });
export type RunRowWire = Static<typeof RunRowWire>;

export const RunDetailWire = Type.Object(
  {
    ...runRow,
    leaseMs: Count,
    initialShards: Count,
    exec: Type.Optional(Type.String()),
    module: Type.Optional(Type.String()),
    out: Type.Optional(Type.String()),
    keyForm: names("path", "row", "tuple", "hex"),
    settings: SettingsWire,
    from: ShownKeyWire,
    to: ShownKeyWire,
    countedAtMs: Type.Optional(Ms),
    countTookMs: Type.Optional(Type.Number()),
    earliestDeadlineMs: Type.Optional(Ms),
  },
  { title: "RunDetail" },
);
export const AttentionWire = Type.Object(
  {
    kind: names("Parked", "NobodyWorks", "Failures", "Retrying", "Stalled", "Paused", "Unsettled"),
    count: Count,
    message: Type.String(),
    advice: Type.String(),
    shard: Type.Optional(Id),
  },
  { title: "Attention", description: "Something about a run that an operator should look at." },
);
export type AttentionWire = Static<typeof AttentionWire>;

const placedShard = {
  shard: Id,
  from: Position,
  to: Position,
  start: ShownKeyWire,
  end: ShownKeyWire,
  cursor: Type.Optional(ShownKeyWire),
  worker: Type.Optional(Id),
  workerName: Type.Optional(Type.String()),
  deadlineMs: Type.Optional(Ms),
  items: Type.Optional(Count),
  attempts: Count,
};
export const StripShardWire = Type.Object({ ...placedShard, state: LeafStateName }, { title: "StripShard" });
export const shardRow = {
  ...placedShard,
  state: ShardStateName,
  parent: Type.Optional(Id),
  children: Count,
  parkReason: Type.Optional(ParkReasonName),
  parkError: Type.Optional(Type.String({ description: "Why it is parked, in a list of parked shards." })),
  acquired: Count,
  failed: Type.Optional(Count),
};
export const ShardRowWire = Type.Object(shardRow, { title: "ShardRow" });
export type ShardRowWire = Static<typeof ShardRowWire>;

const Counts = Type.Array(Count);
export const BucketsWire = Type.Object(
  {
    count: Count,
    done: Counts,
    leased: Counts,
    waiting: Counts,
    parked: Counts,
    cursors: Counts,
    fill: Type.String({ description: "One letter a bucket: d, l, w, p, or - where the run has no keys." }),
  },
  { title: "Buckets", description: "Shards that begin in each bucket, by state." },
);

export const ConsoleEventWire = Type.Object(
  {
    id: Type.String(),
    kind: Type.String(),
    atMs: Ms,
    tenant: Tenant,
    run: Id,
    shard: Type.Optional(Id),
    worker: Type.Optional(Id),
    workerName: Type.Optional(Type.String()),
    fence: Type.Optional(Type.String()),
    reason: Type.Optional(Type.String()),
    children: Type.Optional(Type.Array(Id)),
    opId: Type.Optional(Id),
  },
  { title: "ConsoleEvent" },
);
export type ConsoleEventWire = Static<typeof ConsoleEventWire>;

// Responses.

export const WhoAmIOk = Type.Object({
  role: names("read", "work", "operate", "admin"),
  canOperate: Type.Boolean(),
  tenants: Type.Union([Type.Array(Tenant), Type.Null()], { description: "`null`: every tenant." }),
  tenant: Type.Optional(Tenant),
  hideKeys: Type.Boolean(),
  store: Type.Optional(Type.String()),
  version: Type.String(),
  nowMs: Ms,
  hasRetry: Type.Boolean(),
});
export const ConsoleRunsOk = Type.Object({ runs: Type.Array(RunRowWire), next: Type.Optional(Type.String()) });
export const ConsoleRunOk = Type.Object({ run: RunDetailWire, attention: Type.Array(AttentionWire) });
export const StripOk = Type.Object({
  from: Position,
  to: Position,
  fromKey: ShownKeyWire,
  toKey: ShownKeyWire,
  atMs: Ms,
  isCounted: Type.Boolean(),
  isEstimate: Type.Optional(
    Type.Boolean({ description: "The buckets are estimated from a sample, until all shards are counted." }),
  ),
  countedShare: Type.Optional(Type.Number()),
  shardCount: Count,
  shards: Type.Optional(Type.Array(StripShardWire)),
  buckets: Type.Optional(BucketsWire),
});
export const ShardRowsOk = Type.Object({ shards: Type.Array(ShardRowWire), next: Type.Optional(Base64Url) });
export const TreeOk = Type.Object({ nodes: Type.Array(ShardRowWire), next: Type.Optional(Base64Url) });
export const KeysOk = Type.Object({ keys: Type.Array(ShownKeyWire) });
export const ShardDetailOk = Type.Object({
  shard: Type.Object({
    ...shardRow,
    fence: Type.String(),
    retries: Count,
    tokenSize: Count,
    metadataSize: Count,
    lastAtMs: Ms,
    parked: Type.Optional(
      Type.Object({
        item: Type.Optional(ShownKeyWire),
        attempts: Count,
        error: Type.String(),
        atMs: Ms,
        worker: Id,
        workerName: Type.Optional(Type.String()),
      }),
    ),
    marker: Type.Optional(Type.Object({ item: ShownKeyWire, worker: Id, atMs: Ms })),
    log: Type.Array(Type.Object({ opId: Id, kind: Type.String(), atMs: Ms })),
    ancestors: Type.Array(ShardRowWire),
    childShards: Type.Array(ShardRowWire),
  }),
  events: Type.Array(ConsoleEventWire),
});

const Values = Type.Array(Type.Union([Type.Number(), Type.Null()]));
export const HistoryOk = Type.Object({
  stepMs: Count,
  fromMs: Ms,
  items: Values,
  failures: Values,
  workers: Values,
  untilMs: Type.Optional({ ...Ms, description: "Until when it is recorded. The step of this time is incomplete." }),
  writer: Type.Optional(Type.String()),
});
export const HeatOk = Type.Object({
  from: Position,
  to: Position,
  keys: Count,
  columns: Type.Array(Type.Object({ fromMs: Ms, toMs: Ms })),
  cells: Type.Array(Type.Number(), { description: "Column, key bucket and items per second of each cell, flat." }),
  max: Type.Number(),
});
export const TimelineOk = Type.Object({
  fromMs: Ms,
  toMs: Ms,
  workers: Type.Array(
    Type.Object({
      worker: Id,
      name: Type.Optional(Type.String()),
      host: Type.Optional(Type.String()),
      isLive: Type.Boolean(),
      spans: Type.Array(
        Type.Object({
          shard: Id,
          fromMs: Ms,
          toMs: Type.Optional(Ms),
          end: Type.Optional(names("completed", "released", "parked", "split", "lost", "taken")),
        }),
      ),
      marks: Type.Array(Type.Object({ atMs: Ms, kind: names("claim", "takeover", "loss", "rejected"), shard: Id })),
    }),
  ),
  isTruncated: Type.Boolean(),
  sinceMs: Type.Optional(Ms),
});
export const ShownFailuresOk = Type.Object({
  failures: Type.Array(
    Type.Object({
      key: ShownKeyWire,
      attempts: Count,
      reason: Type.String(),
      error: Type.String(),
      atMs: Ms,
      shard: Id,
      worker: Id,
      workerName: Type.Optional(Type.String()),
    }),
  ),
  count: Count,
  next: Type.Optional(Base64Url),
});
export const ShownWorkersOk = Type.Object({
  workers: Type.Array(
    Type.Object({
      worker: Id,
      name: Type.Optional(Type.String()),
      host: Type.Optional(Type.String()),
      pid: Type.Optional(Count),
      version: Type.Optional(Type.String()),
      startedAtMs: Type.Optional(Ms),
      seenAtMs: Type.Optional(Ms),
      shardCount: Count,
      shards: Type.Array(Id),
      items: Type.Optional(Count),
      perSecond: Type.Optional(Type.Number()),
      isRegistered: Type.Boolean(),
    }),
  ),
  nobodyWorks: Type.Boolean(),
});
export const ScopesOk = Type.Object({
  isClustered: Type.Boolean(),
  node: Type.Optional(Type.String()),
  epoch: Type.Optional(Type.String()),
  scopes: Type.Array(
    Type.Object({
      prefix: Type.String(),
      owner: Type.String(),
      address: Type.Optional(Type.String()),
      isHere: Type.Boolean(),
      state: names("owned", "moving", "down"),
      isSilent: Type.Optional(
        Type.Boolean({ description: "The owner does not answer this node. It is the owner all the same." }),
      ),
      seenAtMs: Type.Optional(Ms),
      move: Type.Optional(Type.Object({ id: Type.String(), target: Type.String(), phase: Type.String() })),
    }),
  ),
});
export const HealthOk = Type.Object({
  checks: Type.Array(
    Type.Object({ what: Type.String(), verdict: names("fine", "note", "problem"), words: Type.String() }),
  ),
  fsck: Type.Object({
    state: names("never", "running", "done", "unavailable"),
    atMs: Type.Optional(Ms),
    isSound: Type.Optional(Type.Boolean()),
    runs: Type.Optional(Count),
    shards: Type.Optional(Count),
    findings: Type.Array(
      Type.Object({
        kind: Type.String(),
        where: Type.Optional(Type.String()),
        message: Type.String(),
        advice: Type.String(),
      }),
    ),
    isTruncated: Type.Boolean(),
  }),
});
export type HealthWire = Static<typeof HealthOk>;
export const CutOk = Type.Object({ outcome: OutcomeName, shard: Id, children: Type.Array(Id) });
export const RetryOk = Type.Object({ isStarted: Type.Boolean(), command: Type.String() });

// Requests. Every value of a query is text.

const digits = Type.Optional(Type.String({ pattern: "^[0-9]{1,6}$" }));
const msText = Type.Optional(Type.String({ pattern: "^[0-9]{1,16}$" }));
const fractionText = Type.Optional(
  Type.String({ pattern: "^(0|1|[01]?\\.[0-9]{1,20}|[0-9](\\.[0-9]{1,20})?e-[0-9]{1,2})$" }),
);
export const ConsoleRunsQuery = Type.Object(
  {
    ...ofTenant,
    status: Type.Optional(RunStatusName),
    text: Type.Optional(Type.String({ maxLength: 200 })),
    limit: digits,
    after: Type.Optional(Type.String({ pattern: "^[0-9a-f]{64}[.][0-9a-f]{0,16}$" })),
  },
  closed,
);
export const StripQuery = Type.Object({ ...ofTenant, from: fractionText, to: fractionText, buckets: digits }, closed);
export const ShardRowsQuery = Type.Object(
  {
    ...ofTenant,
    state: Type.Optional(names("done", "leased", "waiting", "parked", "split", "root")),
    limit: digits,
    after: Type.Optional(Base64Url),
  },
  closed,
);
export const TreeQuery = Type.Object(
  { ...ofTenant, parent: Type.Optional(Id), limit: digits, after: Type.Optional(Base64Url) },
  closed,
);
export const KeysQuery = Type.Object({ ...ofTenant, positions: Type.String({ maxLength: 8000 }) }, closed);
export const HistoryQuery = Type.Object(
  { ...ofTenant, step: Type.Optional(Type.Enum(["1000", "60000", "600000"])) },
  closed,
);
export const HeatQueryWire = Type.Object(
  { ...ofTenant, from: fractionText, to: fractionText, keys: digits, columns: digits, fromMs: msText, toMs: msText },
  closed,
);
export const TimelineQuery = Type.Object({ ...ofTenant, fromMs: msText, toMs: msText }, closed);
export const CutBody = Type.Object(
  { ...ofTenant, opId: Id, position: Type.Optional(Position), key: Type.Optional(Type.String({ maxLength: 20_000 })) },
  { ...closed, description: "Where to cut: `position` on the key axis, or `key` as `gossip keys` writes it." },
);
export const DeleteBody = Type.Object({ ...ofTenant, opId: Id, name: Type.String({ maxLength: 1000 }) }, closed);
export const CheckBody = Type.Object({ ...ofTenant, opId: Id }, closed);
