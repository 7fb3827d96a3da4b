import type { RunRow } from "../data/api-types.ts";

/** What to call a run. */
export function runTitle(run: Pick<RunRow, "name" | "source" | "run">): string {
  return run.name ?? run.source ?? run.run;
}

/** The end of an id, where ids differ. */
export function shortId(id: string): string {
  return id.length > 8 ? id.slice(-8) : id;
}

/** What to call a worker. */
export function workerTitle({ worker, name }: { readonly worker: string; readonly name?: string | undefined }): string {
  return name ?? shortId(worker);
}
