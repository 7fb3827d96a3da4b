import { ok, type Result } from "@gossip/stdx";
import { fail, type CliError } from "../../output/cli-error.ts";
import { shellWord } from "../../output/suggestions.ts";

/** The part of a source that a run works on. It identifies the run, together with the source. */
export interface Selection {
  /** Only the first so many items, by key. */
  readonly limit?: number | undefined;
  /** Only files whose path matches one of these globs. */
  readonly include?: readonly string[] | undefined;
  /** No file or folder whose path matches one of these globs. */
  readonly exclude?: readonly string[] | undefined;
}

export const EVERYTHING: Selection = {};

/** The options, in the order in which they are stored and shown. */
const OPTIONS = ["limit", "include", "exclude"] as const satisfies readonly (keyof Selection)[];

/** The selection without what was not given. The same for the same selection. */
export function canonicalSelection(selection: Selection): Record<string, unknown> {
  return Object.fromEntries(OPTIONS.map((name) => [name, selection[name]]).filter(([, value]) => value !== undefined));
}

/** The options of a selection as they are typed, each with a space before it. */
export function selectionText(selection: Selection): string {
  const words = Object.entries(canonicalSelection(selection)).flatMap(([name, value]) =>
    [value].flat().map((each) => ` --${name} ${shellWord(String(each))}`),
  );
  return words.join("");
}

/** Read what `canonicalSelection` returned. Anything else is left out. */
export function readSelection(stored: unknown): Selection {
  if (typeof stored !== "object" || stored === null) return EVERYTHING;
  const { limit, include, exclude } = stored as Record<string, unknown>;
  return {
    ...(typeof limit === "number" ? { limit } : {}),
    ...(isTexts(include) ? { include } : {}),
    ...(isTexts(exclude) ? { exclude } : {}),
  };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

/** Refuse options that do not fit the kind of source. */
export function checkSelection(kind: string, { include, exclude }: Selection): Result<void, CliError> {
  if (kind === "fs") return ok();
  const given = include !== undefined ? "--include" : exclude !== undefined ? "--exclude" : undefined;
  return given === undefined ? ok() : fail("BadCommandLine", `${given} is for fs: only: leave it out.`);
}
