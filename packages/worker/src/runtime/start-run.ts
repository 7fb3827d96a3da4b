import {
  Cursor,
  MAX_INITIAL_SHARDS,
  MAX_SPLIT_CHILDREN,
  OpId,
  ShardId,
  ShardSpec,
  type InitialShardInput,
} from "@gossip/contracts";
import {
  RunConfig,
  type CoordinatorApi,
  type RunConfigInput,
  type RunRecord,
  type RunRequest,
} from "@gossip/coordination";
import { coordError, type CreateRunError } from "@gossip/coordination-errors";
import {
  alignSplitPoints,
  decodeConnectorExtra,
  decodeHint,
  decodeMetadata,
  evenSplitPoints,
  planHintedSplitReplace,
  ShardMetadata,
} from "@gossip/frontier";
import { assert, assertBytes, assertCount, compareBytes, equalBytes, err, ok, unwrap, type Result } from "@gossip/stdx";
import type { SourceError } from "../sources/source-error.ts";
import type { Source } from "../sources/source.ts";
import { registerPages } from "./register-pages.ts";
import type { StartRunError } from "./start-run-error.ts";

/** The most initial shards that a run can be started with. More than 10,000 are registered in pages. */
export const MAX_PLANNED_SHARDS = 1_000_000;

export interface StartRunOptions {
  readonly coordinator: CoordinatorApi;
  readonly run: RunRequest;
  readonly source: Source;
  readonly config: RunConfigInput;
  /** How many initial shards to aim for. A source may plan fewer. */
  readonly shardCount: number;
  readonly signal?: AbortSignal;
  /**
   * Bytes that identify the settings of the work, stored with every shard. A caller that joins with other bytes is
   * refused, so that two commands never share a run by accident. Not compared if omitted.
   */
  readonly connectorExtra?: Uint8Array;
}

/** A run to work on: created by this call, or joined. */
export interface StartedRun {
  readonly kind: "Created" | "Joined";
  readonly record: RunRecord;
}

/**
 * Create a run over everything in a source, or join it if it exists.
 *
 * The source plans only if the run does not exist, so a second start changes nothing. If several processes start at
 * once, one creates the run and the others join it. A run that has ended is joined too; its record has the status.
 */
export async function startRun(options: StartRunOptions): Promise<Result<StartedRun, StartRunError>> {
  assertOptions(options);
  const found = await findRun(options);
  if (!found.ok) return found;
  if (found.value !== undefined) return join(options, found.value);

  const shards = await planShards(options);
  if (!shards.ok) return shards;
  if (options.signal?.aborted === true) return err({ kind: "Aborted" });
  const { coordinator, run, config, signal } = options;
  if (shards.value.length > MAX_INITIAL_SHARDS) {
    const registered = await registerPages({ coordinator, run, config, shards: shards.value, signal });
    return registered.ok ? ok({ kind: "Created", record: registered.value }) : registered;
  }
  const created = await coordinator.createRunWithShards({ ...run, config, shards: shards.value, opId: OpId.random() });
  if (created.ok) return ok({ kind: "Created", record: created.value.value });
  if (!isCreatedByAnother(created.error)) return created;
  const theirs = await coordinator.getRun(run);
  return theirs.ok ? join(options, theirs.value) : theirs;
}

/** Returns the run, or `undefined` if it is missing or half created and this call has to create it. */
async function findRun({ coordinator, run }: StartRunOptions): Promise<Result<RunRecord | undefined, StartRunError>> {
  const found = await coordinator.getRun(run);
  if (found.ok) return ok(found.value.status === "Initializing" ? undefined : found.value);
  return found.error.kind === "RunNotFound" ? ok(undefined) : found;
}

function isCreatedByAnother(error: CreateRunError): boolean {
  return error.kind === "RegisterShardsFailed" && error.reason.kind === "WrongStatus";
}

async function join(options: StartRunOptions, record: RunRecord): Promise<Result<StartedRun, StartRunError>> {
  const { coordinator, run, connectorExtra } = options;
  const config = RunConfig.tryNew(options.config);
  if (!config.ok) return err(coordError("InvalidConfig", { reason: config.error }));
  if (!RunConfig.equals(config.value, record.config)) return err(coordError("ConfigMismatch", { run: run.run }));
  if (connectorExtra !== undefined) {
    const root = record.rootShards[0];
    const shard =
      root === undefined
        ? ok(undefined)
        : await coordinator.getShard({ tenant: run.tenant, key: { run: run.run, shard: root } });
    if (!shard.ok) return shard;
    const extra = shard.value && decodeConnectorExtra(shard.value.spec);
    if (extra?.ok !== true || !equalBytes(extra.value, connectorExtra)) return err({ kind: "SettingsMismatch" });
  }
  return ok({ kind: "Joined", record });
}

async function planShards({
  source,
  shardCount,
  signal,
  connectorExtra,
}: StartRunOptions): Promise<Result<readonly InitialShardInput[], StartRunError>> {
  if (signal?.aborted === true) return err({ kind: "Aborted" });
  const request = { shardCount: Math.min(shardCount, MAX_INITIAL_SHARDS) };
  const planned = await source.plan(signal === undefined ? request : { ...request, signal });
  if (!planned.ok) return planned;
  const cut = shardCount > MAX_INITIAL_SHARDS ? cutFurther(planned.value, shardCount) : planned.value;
  const shards: InitialShardInput[] = [];
  for (const [index, spec] of cut.entries()) {
    const labeled = connectorExtra === undefined ? ok(spec) : withExtra(spec, connectorExtra);
    if (!labeled.ok) return labeled;
    shards.push({ shard: ShardId.fromRaw(BigInt(index + 1)), spec: labeled.value, cursor: Cursor.initial() });
  }
  return ok(shards);
}

/** Cuts planned shards into equal parts of their key space, so that there are about `shardCount`, in key order. */
function cutFurther(planned: readonly ShardSpec[], shardCount: number): readonly ShardSpec[] {
  const parts = Math.min(MAX_SPLIT_CHILDREN, Math.ceil(shardCount / planned.length));
  return planned
    .toSorted((a, b) => compareBytes(a.keyRangeStart, b.keyRangeStart))
    .flatMap((spec) => {
      const hint = decodeHint(spec);
      if (!hint.ok) return [spec];
      const { keyRangeStart: start, keyRangeEnd: end } = spec;
      const points = alignSplitPoints(hint.value, evenSplitPoints({ start, end }, parts));
      const plan = planHintedSplitReplace(spec, Cursor.initial(), points);
      // A range that is too narrow stays whole.
      return plan.ok ? plan.value.children.map((child) => unwrap(ShardSpec.tryFromRef(child.spec))) : [spec];
    });
}

/** Returns the shard spec with the caller's bytes next to the source's hint. */
function withExtra(spec: ShardSpec, connectorExtra: Uint8Array): Result<ShardSpec, SourceError> {
  const decoded = decodeMetadata(spec);
  if (!decoded.ok)
    return err({ kind: "SourceInvalid", reason: "the source planned a shard whose metadata cannot be read" });
  if (decoded.value.connectorExtra.length > 0)
    return err({
      kind: "SourceInvalid",
      reason: "the source stores its own bytes with its shards, which leaves no room for the run's settings",
    });
  const metadata = ShardMetadata.encode({ hint: decoded.value.hint, connectorExtra });
  if (!metadata.ok)
    return err({ kind: "SourceInvalid", reason: "the settings of the run are too large to be stored with its shards" });
  const { keyRangeStart: start, keyRangeEnd: end } = spec;
  return ok(ShardSpec.withRangeAndMetadata({ start, end, metadata: metadata.value }));
}

function assertOptions(options: StartRunOptions): void {
  assert(
    typeof options === "object" && options !== null,
    () => `startRun takes an object of options, got ${typeof options}`,
  );
  const { coordinator, source, shardCount, connectorExtra } = options;
  assert(typeof coordinator?.createRunWithShards === "function", "coordinator must be a Coordinator");
  assert(typeof source?.plan === "function" && typeof source.read === "function", "source must be a Source");
  assertCount(shardCount, "shardCount", { min: 1, max: MAX_PLANNED_SHARDS });
  if (connectorExtra !== undefined) assertBytes(connectorExtra, "connectorExtra");
}
