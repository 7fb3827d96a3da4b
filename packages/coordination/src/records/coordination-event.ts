import {
  toJsonSafe,
  type FenceEpoch,
  type JsonSafe,
  type LogicalTime,
  type ParkReason,
  type RunId,
  type ShardId,
  type TenantId,
  type WorkerId,
} from "@gossip/contracts";
import { assert, type Redacted } from "@gossip/stdx";
import { assertObject } from "@gossip/stdx/internal";

/** The fields of each kind of event, beside its envelope. Every entry is one kind. */
interface EventFields {
  ShardAcquired: { readonly shard: ShardId; readonly worker: WorkerId; readonly fenceEpoch: FenceEpoch };
  /** The key is redacted: only code that may see it can read it. Its size is public. */
  ShardCheckpointed: { readonly shard: ShardId; readonly lastKey: Redacted<Uint8Array>; readonly lastKeySize: number };
  ShardCompleted: { readonly shard: ShardId };
  ShardParked: { readonly shard: ShardId; readonly reason: ParkReason };
  /** *Addition.* */
  ShardReleased: { readonly shard: ShardId };
  ShardSplit: { readonly parent: ShardId; readonly children: readonly ShardId[] };
  ShardResidualCreated: { readonly parent: ShardId; readonly residual: ShardId };
  ShardUnparked: { readonly shard: ShardId; readonly newFenceEpoch: FenceEpoch };
  ShardLeaseRenewed: { readonly shard: ShardId; readonly newDeadline: LogicalTime };
  RunCreated: object;
  RunActivated: { readonly shardCount: number };
  RunCompleted: object;
  RunFailed: object;
  RunCancelled: object;
  /** *Addition.* */
  RunDeleted: object;
}

export type EventKind = keyof EventFields;

/** Something that happened to a run or one of its shards, emitted after it was stored. */
export type CoordinationEvent<Kind extends EventKind = EventKind> = {
  [K in Kind]: EventEnvelope & { readonly kind: K } & EventFields[K];
}[Kind];

export interface EventEnvelope {
  readonly tenant: TenantId;
  readonly run: RunId;
  /** The time that the record stores for it. */
  readonly at: LogicalTime;
}

interface EventTraits {
  readonly isShardEvent: boolean;
  /** Whether it ends a shard or a run. */
  readonly isTerminal: boolean;
}

/** Every kind of event, and what it is about. */
export const EVENT_TRAITS = {
  ShardAcquired: { isShardEvent: true, isTerminal: false },
  ShardCheckpointed: { isShardEvent: true, isTerminal: false },
  ShardCompleted: { isShardEvent: true, isTerminal: true },
  ShardParked: { isShardEvent: true, isTerminal: true },
  ShardReleased: { isShardEvent: true, isTerminal: false },
  ShardSplit: { isShardEvent: true, isTerminal: true },
  ShardResidualCreated: { isShardEvent: true, isTerminal: false },
  ShardUnparked: { isShardEvent: true, isTerminal: false },
  ShardLeaseRenewed: { isShardEvent: true, isTerminal: false },
  RunCreated: { isShardEvent: false, isTerminal: false },
  RunActivated: { isShardEvent: false, isTerminal: false },
  RunCompleted: { isShardEvent: false, isTerminal: true },
  RunFailed: { isShardEvent: false, isTerminal: true },
  RunCancelled: { isShardEvent: false, isTerminal: true },
  RunDeleted: { isShardEvent: false, isTerminal: true },
} as const satisfies Readonly<Record<EventKind, EventTraits>>;

export interface CoordinationEventCompanion {
  isShardEvent(event: CoordinationEvent): boolean;
  isRunEvent(event: CoordinationEvent): boolean;
  /** Whether it ends a shard or a run. Parking counts, although an operator may undo it. */
  isTerminal(event: CoordinationEvent): boolean;
  /** Returns the event as JSON. Keys stay hidden. `coordinationEventJson` reads it back. */
  toJson(event: CoordinationEvent): JsonSafe<CoordinationEvent>;
}

export const CoordinationEvent: CoordinationEventCompanion = {
  isShardEvent(event) {
    return traitsOf(event).isShardEvent;
  },

  isRunEvent(event) {
    return !traitsOf(event).isShardEvent;
  },

  isTerminal(event) {
    return traitsOf(event).isTerminal;
  },

  toJson(event) {
    assertObject(event, "event");
    return toJsonSafe(event);
  },
};

function traitsOf(event: CoordinationEvent): EventTraits {
  assertObject(event, "event");
  const { kind } = event;
  assert(Object.hasOwn(EVENT_TRAITS, kind), "kind of the event must be one of EVENT_TRAITS");
  return EVENT_TRAITS[kind];
}
