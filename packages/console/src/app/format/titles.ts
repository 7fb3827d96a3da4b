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

/** The lower bound of a range. No bound, or the least key, is the start of all keys. */
export function startText({ text }: { readonly text: string }): string {
  return /^(?:hex:0*)?$/.test(text) ? "start" : text;
}

/** The upper bound of a range. No bound, or a key above all others, is the end of all keys. */
export function endText({ text }: { readonly text: string }): string {
  return /^(?:hex:f{16,})?$/.test(text) ? "end" : text;
}
