import { MAX_CLAIM_COUNT } from "@gossip/coordination";
import { ACTIVE_FROM, ACTIVE_TO, CLAIMABLE_AT, FREE_TO } from "./claim-index-bytes.ts";

/** Conditions on places, which are `p` there: on those that nobody holds, and on the others. */
export interface PlaceConditions {
  readonly free: string;
  readonly held: string;
}

/** Which run, when, and which of its shards count; pieces of SQL. */
export interface HintScope {
  readonly runId: string;
  /** The last place that can be claimed then. */
  readonly now: string;
  readonly and?: PlaceConditions;
}

/** How far shards are counted: the most that one claim takes. */
export const MAX_COUNTED = MAX_CLAIM_COUNT;

/**
 * What can be claimed of a run at one time, counted up to a limit that is news to somebody. Each is a probe of `places`; free and
 * lapsed are counted together, since each probe takes as long as a small write does.
 */
export function hintColumns(schema: string, scope: HintScope): string {
  return `${timedColumns(schema, scope, ACTIVE_FROM)},
  0 AS free`;
}

/**
 * How many nobody has a lease on: the same at all times, and the one of them that takes long where there are many.
 *
 * `from`: the place where counting begins, to go around from there. Behind where claiming is at work are the entries of what was
 * claimed, which the server must look up one by one until it may drop them.
 */
export function freeColumn(
  schema: string,
  { runId, and, from, isAsked = "true" }: Omit<HintScope, "now"> & { readonly from: string; readonly isAsked?: string },
): string {
  const places = placesOf(schema, runId, and?.free);
  return `(SELECT count(*)::int FROM (
     (SELECT ${places} AND p.place >= ${from} AND p.place < ${FREE_TO} LIMIT ${MAX_COUNTED})
     UNION ALL
     (SELECT ${places} AND p.place >= ${ACTIVE_FROM} AND p.place < ${from} LIMIT ${MAX_COUNTED})
     LIMIT ${MAX_COUNTED}) free WHERE ${isAsked}) AS free`;
}

/** Two times, as `now` of a scope, and where counting begins. */
export interface HintRange extends Omit<HintScope, "now"> {
  readonly and: PlaceConditions;
  /** Null where nobody asks. */
  readonly first: string;
  readonly last: string;
  readonly from: string;
}

/**
 * The capacity at all times from a first to a last: what is free; how many leases had lapsed by the first; when others did until the
 * last, which are hardly ever any; and when the next one will.
 */
export function rangeColumns(schema: string, { runId, first, last, from, and }: HintRange): string {
  const places = placesOf(schema, runId, and.held);
  return `
  ${freeColumn(schema, { runId, from, isAsked: `${first} IS NOT NULL`, and })},
  (SELECT count(*)::int FROM (SELECT ${places} AND p.place >= ${FREE_TO} AND p.place <= ${first} LIMIT ${MAX_COUNTED}) lapsed) AS lapsed,
  ARRAY(SELECT ${CLAIMABLE_AT} ${places}
        AND ${first} < ${last} AND p.place > ${first} AND p.place <= ${last} ORDER BY p.place LIMIT ${MAX_COUNTED}) AS lapsing,
  (SELECT ${CLAIMABLE_AT} ${places} AND p.place > ${last} AND p.place < ${ACTIVE_TO} ORDER BY p.place LIMIT 1) AS earliest,
  (SELECT w.until FROM ${schema}.starved w WHERE w.run_id = ${runId}) AS starved_until`;
}

/** How many leases have lapsed, when the first of the others will, and until when the run is wanted. */
export function lapsedColumns(schema: string, scope: HintScope): string {
  return timedColumns(schema, scope, FREE_TO);
}

/** `from`: where those begin that are counted. */
function timedColumns(schema: string, { runId, now, and }: HintScope, from: string): string {
  const places = placesOf(schema, runId, and?.held);
  return `
  (SELECT count(*)::int FROM (SELECT ${places} AND p.place >= ${from} AND p.place <= ${now} LIMIT ${MAX_COUNTED}) lapsed) AS lapsed,
  (SELECT ${CLAIMABLE_AT} ${places} AND p.place > ${now} AND p.place < ${ACTIVE_TO} ORDER BY p.place LIMIT 1) AS earliest,
  (SELECT w.until FROM ${schema}.starved w WHERE w.run_id = ${runId}) AS starved_until`;
}

function placesOf(schema: string, runId: string, and: string | undefined): string {
  return `FROM ${schema}.places p WHERE p.run_id = ${runId}${and === undefined ? "" : ` AND ${and}`}`;
}
