import type { ShardId, WorkerId } from "@gossip/contracts";
import type { ItemFailure, ParkedDetail, RunRequest, WorkerEntry } from "@gossip/coordination";
import type { GetRunError } from "@gossip/coordination-errors";
import { err, ok, type Result } from "@gossip/stdx";
import type { CliError } from "../../output/cli-error.ts";
import type { OpenedStore } from "../../store-url/opened-store.ts";
import { coordSentence } from "../report/coord-sentence.ts";

interface NotePage<T> {
  readonly items: readonly T[];
  readonly next?: Uint8Array | undefined;
}

type ReadPage<T> = (after: Uint8Array | undefined) => Promise<Result<NotePage<T>, GetRunError>>;

async function* pagesOf<T>(read: ReadPage<T>): AsyncGenerator<Result<readonly T[], CliError>, void, void> {
  let after: Uint8Array | undefined;
  do {
    const page = await read(after);
    if (!page.ok) {
      yield err(coordSentence(page.error));
      return;
    }
    yield ok(page.value.items);
    after = page.value.next;
  } while (after !== undefined);
}

async function all<T>(
  pages: AsyncIterable<Result<readonly T[], CliError>>,
  most = Infinity,
): Promise<Result<readonly T[], CliError>> {
  const found: T[] = [];
  for await (const page of pages) {
    if (!page.ok) return page;
    found.push(...page.value);
    if (found.length >= most) return ok(found.slice(0, most));
  }
  return ok(found);
}

/** The failed items of a run by key, page by page: all, or those of a range. */
export function failurePages(
  { coordinator }: Pick<OpenedStore, "coordinator">,
  request: RunRequest,
  range?: { readonly start: Uint8Array; readonly end: Uint8Array },
): AsyncGenerator<Result<readonly ItemFailure[], CliError>, void, void> {
  return pagesOf((after) => coordinator.listFailures({ ...request, after, range }));
}

/** The workers that registered with a run and have not gone. */
export function readWorkers(
  { coordinator }: OpenedStore,
  request: RunRequest,
): Promise<Result<readonly WorkerEntry[], CliError>> {
  return all(pagesOf((after) => coordinator.listWorkers({ ...request, ...(after === undefined ? {} : { after }) })));
}

/** The names of a run's workers, by id. */
export async function readWorkerNames(
  opened: OpenedStore,
  request: RunRequest,
): Promise<Result<ReadonlyMap<WorkerId, string>, CliError>> {
  const workers = await readWorkers(opened, request);
  return workers.ok ? ok(new Map(workers.value.map(({ worker, name }) => [worker, name]))) : workers;
}

/** Why shards of a run are parked, by shard: of all of them, or of `most`. */
export async function readParkedDetails(
  { coordinator }: OpenedStore,
  request: RunRequest,
  { most }: { readonly most?: number } = {},
): Promise<Result<ReadonlyMap<ShardId, ParkedDetail>, CliError>> {
  const details = await all(
    pagesOf((after) => coordinator.listParkedDetails({ ...request, ...(after === undefined ? {} : { after }) })),
    most,
  );
  return details.ok ? ok(new Map(details.value.map((detail) => [detail.shard, detail]))) : details;
}
