import { MAX_INITIAL_SHARDS, OpId, type InitialShardInput, type ShardId } from "@gossip/contracts";
import {
  lastRegistered,
  type CoordinatorApi,
  type RunConfigInput,
  type RunRecord,
  type RunRequest,
} from "@gossip/coordination";
import { coordError, type CreateRunError, type GetRunError } from "@gossip/coordination-errors";
import { err, type Result } from "@gossip/stdx";

export interface PagedRun {
  readonly coordinator: CoordinatorApi;
  readonly run: RunRequest;
  readonly config: RunConfigInput;
  /** In the order of their keys, with the ids 1, 2, 3 and so on. */
  readonly shards: readonly InitialShardInput[];
  readonly signal?: AbortSignal | undefined;
}

/**
 * Creates a run whose shards are more than one call may register, page by page.
 *
 * A process that is stopped in between leaves an initializing run. The next one continues with the first page that is
 * missing, and so does one that starts at the same time: both make the same plan, and a page that is there counts as
 * done. Returns the run, which another process may have completed.
 */
export async function registerPages({
  coordinator,
  run,
  config,
  shards,
  signal,
}: PagedRun): Promise<Result<RunRecord, CreateRunError | GetRunError | { readonly kind: "Aborted" }>> {
  const created = await coordinator.createRun({ ...run, config });
  if (!created.ok && created.error.kind !== "RunAlreadyExists") return created;
  for (;;) {
    if (signal?.aborted === true) return err({ kind: "Aborted" });
    const found = await coordinator.getRun(run);
    if (!found.ok || found.value.status !== "Initializing") return found;
    const from = pageAfter(lastRegistered(found.value));
    const page = shards.slice(from, from + MAX_INITIAL_SHARDS);
    const registered = await coordinator.registerShards({
      ...run,
      shards: page,
      opId: opIdOf(from),
      more: from + MAX_INITIAL_SHARDS < shards.length,
    });
    if (registered.ok) continue;
    // Another process was quicker with this page: look where it is now.
    const now = await coordinator.getRun(run);
    const isDone = now.ok && (now.value.status !== "Initializing" || pageAfter(lastRegistered(now.value)) > from);
    if (!isDone) return err(coordError("RegisterShardsFailed", { reason: registered.error }));
  }
}

/** Where the page after a shard begins. */
function pageAfter(last: ShardId | undefined): number {
  return last === undefined ? 0 : Number(last);
}

/** The same for every process, so that a page that is registered twice at once counts once. */
function opIdOf(from: number): OpId {
  return OpId.fromRaw(BigInt(from + 1));
}
