// The JSON of the console's operations, as docs/reference/protocol.md describes it. Fields that the page does not use are
// left out; a server may send more.

/** A key as text, in the form of the run's source. An empty text of size 0 is no bound. */
export interface ShownKey {
  readonly text: string;
  readonly size: number;
  /** From 0 to 1 on the run's key axis. */
  readonly position: number;
}

/** The state of a shard that has no children. */
export type LeafState = "done" | "leased" | "waiting" | "parked";
export type ShardState = LeafState | "split";

export type StateCounts = Readonly<Record<ShardState, number>>;

export type RunStatus = "Initializing" | "Active" | "Done" | "Failed" | "Cancelled";

export interface RunRow {
  readonly tenant: string;
  readonly run: string;
  readonly name?: string;
  readonly source?: string;
  readonly work?: string;
  readonly status: RunStatus;
  readonly createdAtMs: number;
  readonly completedAtMs?: number;
  readonly shards: StateCounts;
  readonly items?: number;
  readonly fraction?: number;
  readonly perSecond?: number;
  readonly remainingMs?: number;
  readonly failures: number;
  readonly workers: number;
  readonly isPaused: boolean;
  readonly isCounted: boolean;
}

export interface RunSettings {
  readonly paused: boolean;
  readonly itemsPerSecond: number | null;
  readonly concurrency: number | null;
}

export interface RunDetail extends RunRow {
  readonly leaseMs: number;
  readonly initialShards: number;
  readonly exec?: string;
  readonly module?: string;
  readonly out?: string;
  readonly settings: RunSettings;
  readonly from: ShownKey;
  readonly to: ShownKey;
  readonly countedAtMs?: number;
}

export interface Attention {
  readonly kind: string;
  readonly count: number;
  readonly message: string;
  readonly advice: string;
  readonly shard?: string;
}

export interface RunOverview {
  readonly run: RunDetail;
  readonly attention: readonly Attention[];
}

export interface RunPage {
  readonly runs: readonly RunRow[];
  readonly next?: string;
}

export interface StripShard {
  readonly shard: string;
  readonly from: number;
  readonly to: number;
  readonly start: ShownKey;
  readonly end: ShownKey;
  readonly state: LeafState;
  readonly cursor?: ShownKey;
  readonly worker?: string;
  readonly workerName?: string;
  readonly deadlineMs?: number;
  readonly items?: number;
  readonly attempts: number;
}

export interface StripBuckets {
  readonly count: number;
  readonly done: readonly number[];
  readonly leased: readonly number[];
  readonly waiting: readonly number[];
  readonly parked: readonly number[];
  readonly cursors: readonly number[];
  /** One letter per bucket: `d`, `l`, `w`, `p`, or `-` without keys. */
  readonly fill: string;
}

export interface Strip {
  readonly from: number;
  readonly to: number;
  readonly fromKey: ShownKey;
  readonly toKey: ShownKey;
  readonly atMs: number;
  readonly isCounted: boolean;
  /** Which part of the first count is done, from 0 to 1. */
  readonly countedShare?: number;
  /** The buckets are estimates, until all shards are counted. */
  readonly isEstimate?: boolean;
  readonly shardCount: number;
  readonly shards?: readonly StripShard[];
  readonly buckets?: StripBuckets;
}

export interface ShardRow extends Omit<StripShard, "state"> {
  readonly state: ShardState;
  readonly parent?: string;
  readonly children: number;
  readonly parkReason?: string;
  /** Only in a list of parked shards. */
  readonly parkError?: string;
  readonly acquired: number;
  readonly failed?: number;
}

export interface ShardPage {
  readonly shards: readonly ShardRow[];
  readonly next?: string;
}

export interface TreePage {
  readonly nodes: readonly ShardRow[];
  readonly next?: string;
}

export interface ShardDetail extends ShardRow {
  readonly fence: string;
  readonly retries: number;
  readonly tokenSize: number;
  readonly metadataSize: number;
  readonly lastAtMs: number;
  readonly parked?: {
    readonly item?: ShownKey;
    readonly attempts: number;
    readonly error: string;
    readonly atMs: number;
    readonly worker: string;
    readonly workerName?: string;
  };
  readonly marker?: { readonly item: ShownKey; readonly worker: string; readonly atMs: number };
  readonly log: readonly { readonly opId: string; readonly kind: string; readonly atMs: number }[];
  readonly ancestors: readonly ShardRow[];
  readonly childShards: readonly ShardRow[];
}

export interface ShardAnswer {
  readonly shard: ShardDetail;
  readonly events: readonly ConsoleEvent[];
}

export interface History {
  readonly stepMs: number;
  readonly fromMs: number;
  readonly items: readonly (number | null)[];
  readonly failures: readonly (number | null)[];
  readonly workers: readonly (number | null)[];
  readonly untilMs?: number;
}

export interface Heat {
  readonly from: number;
  readonly to: number;
  readonly keys: number;
  readonly columns: readonly { readonly fromMs: number; readonly toMs: number }[];
  /** Flat triplets: column, key, items per second. */
  readonly cells: readonly number[];
  readonly max: number;
}

export type SpanEnd = "completed" | "released" | "parked" | "split" | "lost" | "taken";
export type MarkKind = "claim" | "takeover" | "loss" | "rejected";

export interface TimelineWorker {
  readonly worker: string;
  readonly name?: string;
  readonly host?: string;
  readonly isLive: boolean;
  readonly spans: readonly {
    readonly shard: string;
    readonly fromMs: number;
    readonly toMs?: number;
    readonly end?: SpanEnd;
  }[];
  readonly marks: readonly { readonly atMs: number; readonly kind: MarkKind; readonly shard: string }[];
}

export interface Timeline {
  readonly fromMs: number;
  readonly toMs: number;
  readonly workers: readonly TimelineWorker[];
  readonly isTruncated: boolean;
  readonly sinceMs?: number;
}

export interface FailureRow {
  readonly key: ShownKey;
  readonly attempts: number;
  readonly reason: string;
  readonly error: string;
  readonly atMs: number;
  readonly shard: string;
  readonly worker: string;
  readonly workerName?: string;
}

export interface FailurePage {
  readonly failures: readonly FailureRow[];
  readonly count: number;
  readonly next?: string;
}

export interface WorkerRow {
  readonly worker: string;
  readonly name?: string;
  readonly host?: string;
  readonly pid?: number;
  readonly version?: string;
  readonly startedAtMs?: number;
  readonly seenAtMs?: number;
  readonly shardCount: number;
  readonly shards: readonly string[];
  readonly items?: number;
  readonly perSecond?: number;
  readonly isRegistered: boolean;
}

export interface WorkerList {
  readonly workers: readonly WorkerRow[];
  readonly nobodyWorks: boolean;
}

export interface ScopeList {
  readonly isClustered: boolean;
  readonly node?: string;
  readonly epoch?: string;
  readonly scopes: readonly {
    readonly prefix: string;
    /** The name of the node. */
    readonly owner: string;
    readonly address?: string;
    readonly isHere: boolean;
    readonly state: "owned" | "moving" | "down";
    /** The owner does not answer the node that shows this. It is the owner all the same. */
    readonly isSilent?: boolean;
    readonly seenAtMs?: number;
    readonly move?: { readonly id: string; readonly target: string; readonly phase: string };
  }[];
}

export interface Health {
  readonly checks: readonly {
    readonly what: string;
    readonly verdict: "fine" | "note" | "problem";
    readonly words: string;
  }[];
  readonly fsck: {
    readonly state: "never" | "running" | "done" | "unavailable";
    readonly atMs?: number;
    readonly isSound?: boolean;
    readonly runs?: number;
    readonly shards?: number;
    readonly findings: readonly {
      readonly kind: string;
      readonly where?: string;
      readonly message: string;
      readonly advice: string;
    }[];
    readonly isTruncated: boolean;
  };
}

export interface ConsoleEvent {
  readonly id: string;
  readonly kind: string;
  readonly atMs: number;
  readonly tenant: string;
  readonly run: string;
  readonly shard?: string;
  readonly worker?: string;
  readonly workerName?: string;
  readonly fence?: string;
  readonly reason?: string;
  readonly children?: readonly string[];
  readonly opId?: string;
}

export interface WhoAmI {
  readonly role: string;
  readonly canOperate: boolean;
  readonly tenants: readonly string[] | null;
  readonly tenant?: string;
  readonly hideKeys: boolean;
  readonly store?: string;
  readonly version: string;
  readonly nowMs: number;
  readonly hasRetry: boolean;
}
