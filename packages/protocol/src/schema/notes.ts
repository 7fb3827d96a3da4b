import {
  FAILURE_REASONS,
  MAX_FLEET_CONCURRENCY,
  MAX_HOLD_MS,
  MAX_ITEMS_PER_SECOND,
  MIN_ITEMS_PER_SECOND,
  type FailureReason,
} from "@gossip/coordination";
import Type, { type Static } from "typebox";
import { LeaseWire } from "./records.ts";
import { Base64Url, Count, Id, Tenant, U64 } from "./scalars.ts";

// Failures, details of parked shards, workers, markers and settings.

const closed = { additionalProperties: false } as const;
const ofTenant = { tenant: Type.Optional(Tenant) };
const itemKey = {
  key: Type.Optional(Type.String({ description: "The item's key, if it is UTF-8." })),
  key64: Type.Optional(Base64Url),
};
const Attempts = Type.Integer({ minimum: 1, maximum: 0xffff_ffff });
const Reason = Type.Enum<FailureReason[]>([...FAILURE_REASONS]);

/** The most failures of one checkpoint. A store may take fewer. */
export const MAX_FAILURES = 64;

export const FailureElement = Type.Object(
  { ...itemKey, attempts: Attempts, reason: Reason, error: Type.String(), workerName: Type.Optional(Type.String()) },
  { ...closed, title: "NewFailure", description: "An item that is skipped. Its error text is the tenant's data." },
);
export type FailureElement = Static<typeof FailureElement>;

export const DetailElement = Type.Object(
  { ...itemKey, attempts: Count, error: Type.String(), workerName: Type.Optional(Type.String()) },
  { ...closed, title: "NewParkedDetail", description: "What went wrong, for operators." },
);
export type DetailElement = Static<typeof DetailElement>;

export const FailureWire = Type.Object(
  {
    ...itemKey,
    attempts: Count,
    reason: Reason,
    error: Type.String(),
    at: U64,
    shard: Id,
    worker: Id,
    workerName: Type.Optional(Type.String()),
  },
  { title: "Failure" },
);
export type FailureWire = Static<typeof FailureWire>;

export const ParkedWire = Type.Object(
  {
    shard: Id,
    ...itemKey,
    attempts: Count,
    error: Type.String(),
    at: U64,
    worker: Id,
    workerName: Type.Optional(Type.String()),
  },
  { title: "ParkedDetail" },
);
export type ParkedWire = Static<typeof ParkedWire>;

const workerFields = {
  name: Type.String(),
  host: Type.String(),
  pid: Count,
  version: Type.String(),
  startedAt: U64,
  shards: Type.Array(Id, { maxItems: 10_000 }),
  itemCount: Count,
  itemsPerSecond: Type.Optional(Type.Number({ minimum: 0 })),
};
export const WorkerBody = Type.Object({ ...ofTenant, ...workerFields, ttlMs: U64 }, closed);
export const WorkerWire = Type.Object(
  { worker: Id, ...workerFields, shardCount: Count, at: U64, expiresAt: U64 },
  { title: "Worker" },
);
export type WorkerWire = Static<typeof WorkerWire>;

export const MarkerBody = Type.Object(
  { lease: LeaseWire, ...itemKey },
  { ...closed, description: "Without a key the marker is removed." },
);
export const MarkerWire = Type.Object({ ...itemKey, worker: Id, fence: U64, at: U64 }, { title: "Marker" });
export type MarkerWire = Static<typeof MarkerWire>;

const limits = {
  itemsPerSecond: Type.Union([
    Type.Number({ minimum: MIN_ITEMS_PER_SECOND, maximum: MAX_ITEMS_PER_SECOND }),
    Type.Null(),
  ]),
  concurrency: Type.Union([Type.Integer({ minimum: 1, maximum: MAX_FLEET_CONCURRENCY }), Type.Null()]),
};
export const SettingsWire = Type.Object(
  { paused: Type.Boolean(), pausedSince: Type.Optional(U64), ...limits, heldForMs: Type.Number({ minimum: 0 }) },
  { title: "RunSettings", description: "What an operator has set for all workers of a run. `null`: no limit." },
);
export type SettingsWire = Static<typeof SettingsWire>;
export const SettingsOk = Type.Object({ settings: SettingsWire });
export const SettingsBody = Type.Object(
  {
    ...ofTenant,
    paused: Type.Optional(Type.Boolean()),
    itemsPerSecond: Type.Optional(limits.itemsPerSecond),
    concurrency: Type.Optional(limits.concurrency),
  },
  { ...closed, description: "Settings that are left out stay as they are." },
);

const Items = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
export const BudgetBody = Type.Object(
  {
    ...ofTenant,
    held: Items,
    returned: Items,
    wanted: Items,
    slots: Items,
    slotsWanted: Items,
    ttlMs: U64,
  },
  { ...closed, description: "What a worker has of the limits of its run, and what it could use." },
);
export const GrantWire = Type.Object(
  { items: Items, slots: Items, slotTarget: Items, untilItemMs: Type.Optional(Type.Number({ minimum: 0 })) },
  { title: "BudgetGrant", description: "What a worker may do until it asks again." },
);
export type GrantWire = Static<typeof GrantWire>;
export const BudgetOk = Type.Object({ settings: SettingsWire, grant: Type.Optional(GrantWire) });
export const ReturnBody = Type.Object({ ...ofTenant, returned: Items }, closed);
export const HoldBody = Type.Object({ ...ofTenant, ms: Type.Number({ minimum: 0, maximum: MAX_HOLD_MS }) }, closed);

export const ResolveBody = Type.Object(
  { ...ofTenant, keys: Type.Array(Type.Object(itemKey, closed), { maxItems: 10_000 }) },
  closed,
);

export const ListFailuresOk = Type.Object({ failures: Type.Array(FailureWire), next: Type.Optional(Base64Url) });
export const CountOk = Type.Object({ count: Count });
export const ListParkedOk = Type.Object({ parked: Type.Array(ParkedWire), next: Type.Optional(Base64Url) });
export const ParkedOk = Type.Object({ parked: Type.Optional(ParkedWire) });
export const ListWorkersOk = Type.Object({ workers: Type.Array(WorkerWire), next: Type.Optional(Base64Url) });
export const MarkerOk = Type.Object({ marker: Type.Optional(MarkerWire) });

export const RollupBody = Type.Object({ ...ofTenant, value64: Type.Optional(Base64Url) }, closed);
export const RollupOk = Type.Object({ value64: Type.Optional(Base64Url) });

const digits = Type.Optional(Type.String({ pattern: "^[0-9]{1,7}$" }));
const page = { ...ofTenant, limit: digits, after: Type.Optional(Base64Url) };
export const PageQuery = Type.Object(page, closed);
export const CountQuery = Type.Object({ ...ofTenant, limit: digits }, closed);
export const ListFailuresQuery = Type.Object(
  {
    ...page,
    start: Type.Optional(Type.String()),
    start64: Type.Optional(Base64Url),
    end: Type.Optional(Type.String()),
    end64: Type.Optional(Base64Url),
  },
  closed,
);
