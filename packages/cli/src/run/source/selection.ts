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
  /** Rows in the order of these columns, which have a unique index, instead of the primary key. */
  readonly key?: readonly string[] | undefined;
  /** Only rows that meet this SQL condition. */
  readonly where?: string | undefined;
  /** Only these columns of a row. */
  readonly columns?: readonly string[] | undefined;
  /** The server of an S3 source. */
  readonly endpoint?: string | undefined;
  /** The entries of a list end with a zero byte. */
  readonly null?: boolean | undefined;
  /** Entries of a list that came before are left out. */
  readonly unique?: boolean | undefined;
  /** Only the items that failed in this run. */
  readonly failedIn?: string | undefined;
}

export const EVERYTHING: Selection = {};

/** The options, in the order in which they are stored and shown. */
const OPTIONS = [
  "limit",
  "include",
  "exclude",
  "key",
  "where",
  "columns",
  "endpoint",
  "null",
  "unique",
  "failedIn",
] as const satisfies readonly (keyof Selection)[];

/** The selection without what was not given. The same for the same selection. */
export function canonicalSelection(selection: Selection): Record<string, unknown> {
  return Object.fromEntries(OPTIONS.map((name) => [name, selection[name]]).filter(([, value]) => value !== undefined));
}

/** The options of a selection as they are typed, each with a space before it. */
export function selectionText({ failedIn, ...selection }: Selection): string {
  if (failedIn !== undefined) return `, what failed in run ${failedIn},`;
  const words = Object.entries(canonicalSelection(selection)).flatMap(([name, value]) =>
    [value].flat().map((each) => (each === true ? ` --${name}` : ` --${name} ${shellWord(String(each))}`)),
  );
  return words.join("");
}

/** Read what `canonicalSelection` returned. Anything else is left out. */
export function readSelection(stored: unknown): Selection {
  if (typeof stored !== "object" || stored === null) return EVERYTHING;
  const { limit, where, endpoint, failedIn, ...lists } = stored as Record<string, unknown>;
  const read = (["include", "exclude", "key", "columns"] as const).map((name) => [name, lists[name]] as const);
  return {
    ...(typeof limit === "number" ? { limit } : {}),
    ...(typeof where === "string" ? { where } : {}),
    ...(typeof endpoint === "string" ? { endpoint } : {}),
    ...(typeof failedIn === "string" ? { failedIn } : {}),
    ...(lists["null"] === true ? { null: true } : {}),
    ...(lists["unique"] === true ? { unique: true } : {}),
    ...Object.fromEntries(read.filter(([, value]) => isTexts(value))),
  };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

const ONLY_FOR = {
  include: "fs",
  exclude: "fs",
  key: "postgres",
  where: "postgres",
  columns: "postgres",
  endpoint: "s3",
  null: "list",
  unique: "list",
} as const satisfies Partial<Record<keyof Selection, string>>;

/** Refuse options that do not fit the kind of source. */
export function checkSelection(kind: string, selection: Selection): Result<void, CliError> {
  for (const [name, only] of Object.entries(ONLY_FOR))
    if (only !== kind && selection[name as keyof Selection] !== undefined)
      return fail("BadCommandLine", `--${name} is for ${only}: only: leave it out.`);
  return ok();
}

/** Read names between commas. A name with a comma or a space is between double quotes, as in SQL. */
export function readNames(text: string): readonly string[] | undefined {
  const names = [...text.matchAll(/\s*(?:"((?:[^"]|"")+)"|([^\s",]+))\s*(?:,|$)/gy)];
  const isWhole = names.length > 0 && names.reduce((size, [all]) => size + all.length, 0) === text.length;
  if (!isWhole || text.trimEnd().endsWith(",")) return undefined;
  return names.map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain!);
}
