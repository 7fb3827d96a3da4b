import {
  ParkReason,
  type InvalidField,
  type JsonSafe,
  type LogicalTime,
  type RunId,
  type ShardId,
} from "@gossip/contracts";
import { JsonReader, type JsonFieldReaders } from "@gossip/contracts/internal";
import { ok, type Result } from "@gossip/stdx";
import { CoordinationEvent, type EventEnvelope, type EventKind } from "./coordination-event.ts";
import { readTenantJson } from "./read-tenant-json.ts";

/** An event that was read from JSON: it has the size of a checkpoint's key, but not the key. */
export type ReceivedEvent<Kind extends EventKind = EventKind> = {
  [K in Kind]: Omit<CoordinationEvent<K>, "lastKey">;
}[Kind];

/** A reader for each field of each kind. A kind or a field that is missing here does not compile. */
type EventReaders = {
  readonly [K in EventKind]: JsonFieldReaders<Omit<CoordinationEvent<K>, keyof EventEnvelope | "kind" | "lastKey">>;
};

const { u64, count, array, object, oneOf } = JsonReader;

const FIELDS: EventReaders = {
  ShardAcquired: { shard: u64, worker: u64, fenceEpoch: u64 },
  ShardCheckpointed: { shard: u64, lastKeySize: count },
  ShardCompleted: { shard: u64 },
  ShardParked: { shard: u64, reason: oneOf(ParkReason.values) },
  ShardReleased: { shard: u64 },
  ShardSplit: { parent: u64, children: array<ShardId>(u64) },
  ShardResidualCreated: { parent: u64, residual: u64 },
  ShardUnparked: { shard: u64, newFenceEpoch: u64 },
  ShardLeaseRenewed: { shard: u64, newDeadline: u64 },
  RunCreated: {},
  RunActivated: { shardCount: count },
  RunCompleted: {},
  RunFailed: {},
  RunCancelled: {},
  RunDeleted: {},
};

const readEnvelope = object<EventEnvelope & { readonly kind: EventKind }>({
  kind: oneOf(Object.keys(FIELDS) as EventKind[]),
  tenant: readTenantJson,
  run: u64<RunId>,
  at: u64<LogicalTime>,
});

/** Converts an event to JSON and back. What comes back lacks the key of a checkpoint. */
export const coordinationEventJson: {
  toJson(event: CoordinationEvent): JsonSafe<CoordinationEvent>;
  /** Takes any result of `JSON.parse`. Ignores fields that do not belong to the event. */
  fromJson(json: unknown): Result<ReceivedEvent, InvalidField>;
} = { toJson: (event) => CoordinationEvent.toJson(event), fromJson: readEvent };

function readEvent(json: unknown): Result<ReceivedEvent, InvalidField> {
  const envelope = readEnvelope(json, "");
  if (!envelope.ok) return envelope;
  const readFields: JsonReader<object> = object(FIELDS[envelope.value.kind] as JsonFieldReaders<object>);
  const fields = readFields(json, "");
  return fields.ok ? ok({ ...envelope.value, ...fields.value } as ReceivedEvent) : fields;
}
