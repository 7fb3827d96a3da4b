import { Cursor, FenceEpoch, LogicalTime, ShardId, ShardSpec, ShardStatus, WorkerId } from "@gossip/contracts";
import { LeaseHolder } from "../../records/lease-holder.ts";
import type { ShardRecord } from "../../records/shard-record.ts";
import type { WriteSet } from "../../store/write-set.ts";
import type { ViolationKind } from "./invariants/violation.ts";
import type { SimOptions } from "./sim-options.ts";
import type { Tampering } from "./tampering-store.fixture.ts";

/** A world in which one thing is wrong, and the rule that must be found broken. */
export interface BrokenStore {
  readonly what: string;
  readonly finds: ViolationKind;
  readonly tampering?: Tampering;
  readonly options?: Partial<SimOptions>;
}

/** A set with the shard that it writes changed, where the change has something to say. */
function rewrite(
  set: WriteSet,
  change: (after: ShardRecord, before: ShardRecord) => Partial<ShardRecord> | undefined,
): WriteSet {
  if (set.kind !== "UpdateShard" && set.kind !== "SplitShard") return set;
  const changed = change(set.shard.after, set.shard.before);
  return changed === undefined ? set : { ...set, shard: { ...set.shard, after: { ...set.shard.after, ...changed } } };
}

function isOp(after: ShardRecord, before: ShardRecord, kind: string): boolean {
  const entry = after.opLog.at(-1);
  return entry?.kind === kind && entry.opId !== before.opLog.at(-1)?.opId;
}

const FAR = LogicalTime.fromRaw(1n << 40n);

export const BROKEN_STORES: readonly BrokenStore[] = [
  {
    what: "a shard is held twice",
    finds: "MutualExclusion",
    tampering: {
      onList: (shards) =>
        shards.flatMap((shard) =>
          shard.lease === undefined
            ? [shard]
            : [shard, { ...shard, lease: LeaseHolder.of({ ...shard.lease, owner: WorkerId.fromRaw(77n) }) }],
        ),
    },
  },
  {
    what: "a shard is given away while it is held",
    finds: "MutualExclusion",
    tampering: { onReadShard: (shard) => ({ ...shard, lease: undefined }) },
  },
  {
    what: "a fence goes down",
    finds: "FenceMonotonicity",
    tampering: {
      onCommit: (set) =>
        rewrite(set, (after, before) =>
          isOp(after, before, "Checkpoint") ? { fenceEpoch: FenceEpoch.INITIAL } : undefined,
        ),
    },
  },
  {
    what: "a shard that is done can be acquired",
    finds: "TerminalIrreversibility",
    tampering: { onReadShard: (shard) => (shard.status === "Done" ? { ...shard, status: "Active" } : shard) },
  },
  {
    what: "an unpark leaves the fence",
    finds: "UnparkWithoutFenceBump",
    tampering: {
      onCommit: (set) =>
        rewrite(set, (after, before) =>
          isOp(after, before, "Unpark") ? { fenceEpoch: before.fenceEpoch } : undefined,
        ),
    },
  },
  {
    what: "a completed shard keeps its lease",
    finds: "RecordInvariant",
    tampering: {
      onCommit: (set) =>
        rewrite(set, (after, before) => (isOp(after, before, "Complete") ? { lease: before.lease } : undefined)),
    },
  },
  {
    what: "a checkpoint may go back",
    finds: "CursorMonotonicity",
    tampering: { onReadShard: (shard) => ({ ...shard, cursor: Cursor.initial() }) },
  },
  {
    what: "a checkpoint may leave the range",
    finds: "CursorOutOfBounds",
    tampering: {
      onCommit: (set) =>
        rewrite(set, (after, before) =>
          isOp(after, before, "Checkpoint") ? { cursor: Cursor.withLastKey(after.spec.keyRangeEnd) } : undefined,
        ),
    },
  },
  {
    what: "a split forgets a child",
    finds: "SplitCoverage",
    tampering: {
      onCommit: (set) =>
        set.kind === "SplitShard" && set.created.length > 1 ? { ...set, created: set.created.slice(1) } : set,
    },
  },
  {
    what: "a split forgets how far its parent had come",
    finds: "SplitCoverage",
    tampering: {
      onCommit: (set) =>
        set.kind === "SplitShard"
          ? { ...set, created: set.created.map((child) => ({ ...child, cursor: Cursor.initial() })) }
          : set,
    },
  },
  {
    what: "a split makes up an id",
    finds: "DerivedId",
    tampering: {
      onCommit: (set) =>
        rewrite(set, (after, before) =>
          after.spawned.length > before.spawned.length
            ? { spawned: after.spawned.map((id) => ShardId.fromRaw(id ^ 1n)) }
            : undefined,
        ),
    },
  },
  {
    what: "a residual split does not narrow the parent",
    finds: "CoverageConservation",
    tampering: {
      onCommit: (set) =>
        rewrite(set, (after, before) => (isOp(after, before, "SplitResidual") ? { spec: before.spec } : undefined)),
    },
  },
  {
    what: "a run that has ended can be ended in another way",
    finds: "RunTerminalIrreversibility",
    tampering: {
      onReadRun: (run) =>
        run.completedAt === undefined ? run : { ...run, status: "Active", completedAt: undefined, opLog: [] },
    },
  },
  {
    what: "a run that has ended gives out shards",
    finds: "EndedRun",
    tampering: { onReadShardRun: (run) => ({ ...run, status: "Active" }) },
  },
  {
    what: "a run is completed while there is work",
    finds: "UnsettledRun",
    tampering: {
      onCommit: (set) => (set.kind === "PutRun" ? { ...set, noShardsIn: [] } : set),
      onReadProgress: (progress) => ({ ...progress, active: 0, parked: 0 }),
    },
  },
  {
    what: "a shard is given out forever",
    finds: "AttemptLimit",
    tampering: { onReadShardRun: (run) => ({ ...run, config: { ...run.config, maxShardRetries: undefined } }) },
  },
  {
    what: "a worker may claim as often as it likes",
    finds: "CooldownViolation",
    options: { claimCooldown: 500n, keptCooldown: 0n, level: "SunnyDay" },
  },
  {
    what: "an acquire does not raise the fence",
    finds: "MutationStream",
    tampering: {
      onReadShard: (shard) =>
        shard.lease === undefined || shard.fenceEpoch < 2n
          ? shard
          : { ...shard, fenceEpoch: FenceEpoch.fromRaw(shard.fenceEpoch - 1n) },
    },
  },
  {
    what: "a lease holds forever",
    finds: "UnauthorizedMutation",
    tampering: {
      onReadShard: (shard) =>
        shard.lease === undefined ? shard : { ...shard, lease: LeaseHolder.of({ ...shard.lease, deadline: FAR }) },
    },
  },
  {
    // Of a shard that is still written to, the next write would reveal it before an operation is repeated.
    what: "the log of what is finished is forgotten",
    finds: "ReplayRefused",
    tampering: {
      onReadShard: (shard) => (shard.status === "Done" || shard.status === "Split" ? { ...shard, opLog: [] } : shard),
    },
  },
  {
    what: "a checkpoint loses its failures",
    finds: "Ledger",
    tampering: {
      onCommit: (set) => (set.kind === "UpdateShard" ? { ...set, notes: undefined } : set),
    },
  },
  {
    what: "a failure is recorded that no checkpoint passed",
    finds: "Ledger",
    tampering: {
      onCommit: (set) =>
        set.kind === "UpdateShard" && set.notes !== undefined
          ? { ...set, notes: set.notes.map((note) => ({ ...note, key: Uint8Array.of(...note.key.slice(0, 9), 1) })) }
          : set,
    },
  },
  {
    what: "a record goes back in time",
    finds: "TimeRegression",
    tampering: { onCommit: (set) => rewrite(set, () => ({ lastTime: LogicalTime.fromRaw(1n) })) },
  },
  {
    what: "a shard is lost",
    finds: "ShardVanished",
    tampering: { onList: (shards) => shards.filter(({ status }) => !ShardStatus.isTerminal(status)) },
  },
  {
    what: "a token is lost",
    finds: "WrongAnswer",
    tampering: {
      onList: (shards) =>
        shards.map((shard) =>
          shard.cursor.lastKey === undefined ? shard : { ...shard, cursor: Cursor.withLastKey(shard.cursor.lastKey) },
        ),
    },
  },
  {
    what: "metadata is lost",
    finds: "WrongAnswer",
    tampering: {
      onList: (shards) =>
        shards.map((shard) => ({
          ...shard,
          spec: ShardSpec.withRange({ start: shard.spec.keyRangeStart, end: shard.spec.keyRangeEnd }),
        })),
    },
  },
  {
    what: "a store does not look at versions",
    finds: "WrongAnswer",
    tampering: { ignoresGuards: true },
    options: { level: "Radioactive" },
  },
  {
    what: "something throws",
    finds: "Thrown",
    tampering: {
      onReadShard() {
        throw new Error("broken");
      },
    },
  },
];
