// Protocol bugs, each a line or two that an engineer could have written.

/** Who can catch a bug. */
export const DETECTORS = ["conformance", "explorer", "simulator"] as const;
export type Detector = (typeof DETECTORS)[number];

export interface PlantedBug {
  readonly name: string;
  /** Below `packages/coordination/src`. */
  readonly file: string;
  /** Must be there exactly once, or the bug cannot be planted and the list is out of date. */
  readonly find: string;
  readonly replace: string;
  /** Who must catch it. Others may. */
  readonly caughtBy: readonly Detector[];
}

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: "the fence is not looked at",
    file: "kernel/validate-lease.ts",
    find: "if (lease.fence !== record.fenceEpoch || holder === undefined)",
    replace: "if (holder === undefined)",
    caughtBy: ["conformance", "explorer", "simulator"],
  },
  {
    name: "the owner is not looked at",
    file: "kernel/validate-lease.ts",
    find: "return holder.owner === lease.owner ? ok() : staleFence(record, lease);",
    replace: "return ok();",
    caughtBy: ["conformance"],
  },
  {
    name: "a replay is looked for after the lease",
    file: "kernel/admit-leased-op.ts",
    find: `  const logged = checkOpIdempotency(shard.opLog, op);
  if (!logged.ok) return logged;
  if (logged.value !== undefined) return ok({ run, shard, at, op: undefined });
  const leased = validateLease(shard, { tenant, lease, at });
  return leased.ok ? ok({ run, shard, at, op }) : leased;`,
    replace: `  const leased = validateLease(shard, { tenant, lease, at });
  if (!leased.ok) return leased;
  const logged = checkOpIdempotency(shard.opLog, op);
  if (!logged.ok) return logged;
  return ok({ run, shard, at, op: logged.value === undefined ? op : undefined });`,
    caughtBy: ["conformance", "explorer", "simulator"],
  },
  {
    name: "a lease holds at its deadline",
    file: "kernel/validate-lease.ts",
    find: "if (at >= holder.deadline)",
    replace: "if (at > holder.deadline)",
    caughtBy: ["conformance", "explorer", "simulator"],
  },
  {
    name: "a shard is taken for leased at the deadline",
    file: "records/shard-record.ts",
    find: "now < record.lease.deadline",
    replace: "now <= record.lease.deadline",
    caughtBy: ["conformance", "simulator"],
  },
  {
    name: "a cursor may go back",
    file: "kernel/validate-cursor-update.ts",
    find: "if (distance < 0)",
    replace: "if (distance < -1000)",
    caughtBy: ["conformance", "explorer", "simulator"],
  },
  {
    name: "a cursor may leave its range",
    file: "kernel/validate-cursor-update.ts",
    find: "if (isInRange(lastKey, record.spec)) return",
    replace: "if (lastKey.length > 0) return",
    caughtBy: ["conformance", "explorer", "simulator"],
  },
  {
    name: "a split forgets a child",
    file: "kernel/split-replace.ts",
    find: "return split.plan.children.toSorted(byStart).map(",
    replace: "return split.plan.children.toSorted(byStart).slice(1).map(",
    caughtBy: ["conformance", "explorer", "simulator"],
  },
  {
    name: "a split forgets how far its parent had come",
    file: "kernel/split-replace.ts",
    find: "spec: unwrap(ShardSpec.tryFromRef(spec)), cursor, at: split.at",
    replace:
      "spec: unwrap(ShardSpec.tryFromRef(spec)), cursor: { ...cursor, lastKey: undefined, token: undefined }, at: split.at",
    caughtBy: ["conformance", "explorer", "simulator"],
  },
  {
    name: "children's ids do not depend on what was spawned before",
    file: "kernel/split-replace.ts",
    find: "const index = shard.spawned.length + position;",
    replace: "const index = position;",
    caughtBy: ["explorer", "simulator"],
  },
  {
    name: "a residual split does not narrow the parent",
    file: "kernel/split-residual.ts",
    find: "narrowed.spec = unwrap(ShardSpec.tryFromRef(plan.parentNewSpec));",
    replace: "narrowed.spec = shard.spec;",
    caughtBy: ["conformance", "explorer", "simulator"],
  },
  {
    name: "an acquire does not raise the fence",
    file: "kernel/acquire.ts",
    find: "leased.fenceEpoch = fenceEpoch;",
    replace: "leased.fenceEpoch = shard.fenceEpoch;",
    caughtBy: ["conformance", "explorer", "simulator"],
  },
  {
    name: "a completed shard keeps its lease",
    file: "kernel/complete.ts",
    find: "done.lease = undefined;",
    replace: "done.lease = shard.lease;",
    caughtBy: ["conformance", "explorer", "simulator"],
  },
  {
    name: "a repeated operation is done again",
    file: "kernel/check-op-idempotency.ts",
    find: `  if (entry === undefined || entry.payloadHash === payloadHash) return ok(entry);
  return err(coordError("OpIdConflict"`,
    replace: `  if (entry === undefined || entry.payloadHash === payloadHash) return ok(undefined);
  return err(coordError("OpIdConflict"`,
    caughtBy: ["conformance", "explorer", "simulator"],
  },
  {
    name: "an op id that was used for something else passes for a repetition",
    file: "kernel/check-op-idempotency.ts",
    find: `  if (entry === undefined || entry.payloadHash === payloadHash) return ok(entry);
  return err(coordError("OpIdConflict"`,
    replace: `  if (entry === undefined || entry.payloadHash !== 0n) return ok(entry);
  return err(coordError("OpIdConflict"`,
    caughtBy: ["conformance", "simulator"],
  },
  {
    name: "a repeated acquire is refused",
    file: "kernel/acquire.ts",
    find: "if (holder !== undefined && holder.owner === command.worker && holder.opId === command.opId) {",
    replace: "if (holder?.owner === command.worker && holder.opId === 0n) {",
    caughtBy: ["conformance", "explorer", "simulator"],
  },
  {
    name: "a shard that is done can be acquired",
    file: "kernel/acquire.ts",
    find: 'if (shard.status !== "Active") {',
    replace: 'if (shard.status === "Split") {',
    caughtBy: ["conformance", "explorer", "simulator"],
  },
  {
    name: "a shard of a run that has ended can be acquired",
    file: "kernel/acquire.ts",
    find: 'if (RunStatus.isTerminal(run.status)) return err(coordError("RunTerminal", { status: run.status }));',
    replace: "",
    caughtBy: ["conformance", "explorer", "simulator"],
  },
  {
    name: "a shard is parked one attempt early",
    file: "kernel/acquire.ts",
    find: "shard.attempts > maxShardRetries",
    replace: "shard.attempts >= maxShardRetries",
    caughtBy: ["conformance", "explorer", "simulator"],
  },
  {
    name: "an unpark leaves the fence",
    file: "kernel/unpark.ts",
    find: "unparked.fenceEpoch = newFenceEpoch;",
    replace: "unparked.fenceEpoch = shard.fenceEpoch;",
    caughtBy: ["conformance", "explorer", "simulator"],
  },
  {
    name: "a slow clock takes a record back in time",
    file: "kernel/logical-now.ts",
    find: "return now > record.lastTime ? now : record.lastTime;",
    replace: "return now;",
    caughtBy: ["conformance", "explorer", "simulator"],
  },
  {
    name: "a run is completed while shards are active",
    file: "kernel/end-run.ts",
    find: "if (!force && (active > 0 || (parked > 0 && !acceptParked))) {",
    replace: "if (!force && active < 0) {",
    caughtBy: ["conformance", "explorer"],
  },
  {
    name: "a write with an unknown outcome passes for one that was made",
    file: "coordinator/execute.ts",
    find: 'if (answer.kind === "Committed") return',
    replace:
      'if (answer.kind === "Unknown") return ok({ outcome: transition.outcome, hint: undefined, read });\n    if (answer.kind === "Committed") return',
    caughtBy: ["simulator"],
  },
  {
    name: "a write that rests on a copy and has an unknown outcome passes for one that was made",
    file: "coordinator/execute-from-copy.ts",
    find: 'if (answer.kind === "Committed") report',
    replace:
      'if (answer.kind === "Unknown") report.settle(ok({ outcome: decided.transition.outcome, hint: undefined, read }));\n      else if (answer.kind === "Committed") report',
    caughtBy: ["simulator"],
  },
  {
    name: "an acquire does not rest on its run",
    file: "coordinator/shard-target.ts",
    find: "const runGuard = writes.needsRun ? runVersion : undefined;",
    replace: "const runGuard = undefined;",
    caughtBy: ["conformance", "simulator"],
  },
  {
    name: "the memory store does not look at versions",
    file: "memory/memory-commit.ts",
    find: "if (shelf === undefined || row === undefined || row.version !== shard.guard) return CONFLICT;",
    replace: "if (shelf === undefined || row === undefined) return CONFLICT;",
    caughtBy: ["conformance", "simulator"],
  },
  {
    name: "a claim is not remembered for the cooldown",
    file: "coordinator/claiming.ts",
    find: "{ hasClaimed: search.sessions.length > 0 }",
    replace: "{ hasClaimed: false }",
    caughtBy: ["conformance", "simulator"],
  },
];
