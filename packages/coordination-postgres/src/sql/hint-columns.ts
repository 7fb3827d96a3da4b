import { MAX_CLAIM_COUNT } from "@gossip/coordination";
import { UNHELD } from "./place-columns.ts";

/** Which run, when, and which of its shards count; each a piece of SQL. */
export interface HintScope {
  readonly runId: string;
  readonly now: string;
  /** A further condition on the places, which are `p` there. */
  readonly and?: string;
}

/** How far shards are counted: more is no news to anybody, and to count on takes the server longer than most of what it is told beside. */
export const MAX_COUNTED = MAX_CLAIM_COUNT;

/**
 * What can be claimed of a run at one time, counted up to a limit that is news to somebody. Each is a probe of `places`; free and
 * lapsed are counted together, since each probe takes as long as a small write does.
 */
export function hintColumns(schema: string, scope: HintScope): string {
  return `${timedColumns(schema, scope, "")},
  0 AS free`;
}

/**
 * How many nobody has a lease on: the same at all times, and the one of them that takes long where there are many.
 *
 * `from`: the place where counting begins, to go around from there. Behind where claiming is at work are the entries of what was
 * claimed, which the server must look up one by one until it may drop them.
 */
export function freeColumn(schema: string, { runId, and, from, isAsked = "true" }: Omit<HintScope, "now"> & { readonly from: string; readonly isAsked?: string }): string {
  const free = `${activeOf(runId, and)} AND p.claimable_at = ${UNHELD}`;
  return `(SELECT count(*)::int FROM (
     (SELECT FROM ${schema}.places p WHERE ${free} AND p.spread >= ${from} LIMIT ${MAX_COUNTED})
     UNION ALL
     (SELECT FROM ${schema}.places p WHERE ${free} AND p.spread < ${from} LIMIT ${MAX_COUNTED})
     LIMIT ${MAX_COUNTED}) free WHERE ${isAsked}) AS free`;
}

/** Two times, and where counting begins. */
export interface HintRange extends Omit<HintScope, "now"> {
  readonly and: string;
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
  const active = activeOf(runId, and);
  return `
  ${freeColumn(schema, { runId, from, isAsked: `${first} IS NOT NULL`, and })},
  (SELECT count(*)::int FROM (SELECT FROM ${schema}.places p WHERE ${active} AND p.claimable_at > ${UNHELD} AND p.claimable_at <= ${first} LIMIT ${MAX_COUNTED}) lapsed) AS lapsed,
  ARRAY(SELECT p.claimable_at FROM ${schema}.places p
        WHERE ${first} < ${last} AND ${active} AND p.claimable_at > ${first} AND p.claimable_at <= ${last} ORDER BY p.claimable_at LIMIT ${MAX_COUNTED}) AS lapsing,
  (SELECT p.claimable_at FROM ${schema}.places p WHERE ${active} AND p.claimable_at > ${last} ORDER BY p.claimable_at LIMIT 1) AS earliest,
  (SELECT w.until FROM ${schema}.starved w WHERE w.run_id = ${runId}) AS starved_until`;
}

/** How many leases have lapsed, when the first of the others will, and until when the run is wanted. */
export function lapsedColumns(schema: string, scope: HintScope): string {
  return timedColumns(schema, scope, `p.claimable_at > ${UNHELD} AND `);
}

function timedColumns(schema: string, { runId, now, and }: HintScope, except: string): string {
  const active = activeOf(runId, and);
  return `
  (SELECT count(*)::int FROM (SELECT FROM ${schema}.places p WHERE ${active} AND ${except}p.claimable_at <= ${now} LIMIT ${MAX_COUNTED}) lapsed) AS lapsed,
  (SELECT p.claimable_at FROM ${schema}.places p WHERE ${active} AND p.claimable_at > ${now} ORDER BY p.claimable_at LIMIT 1) AS earliest,
  (SELECT w.until FROM ${schema}.starved w WHERE w.run_id = ${runId}) AS starved_until`;
}

function activeOf(runId: string, and: string | undefined): string {
  return `p.run_id = ${runId} AND p.status = 'Active'${and === undefined ? "" : ` AND ${and}`}`;
}
