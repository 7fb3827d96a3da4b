import { MAX_CLAIM_COUNT } from "@gossip/coordination";
import { ACTIVE_FROM, ACTIVE_TO, CLAIMABLE_AT, FREE_TO } from "./claim-index-bytes.ts";

/** Conditions on claim index entries (`p`): one for shards without a lease, one for the others. */
export interface EntryConditions {
  readonly free: string;
  readonly held: string;
}

/** Which run, when, and which of its shards count; pieces of SQL. */
export interface HintScope {
  readonly runId: string;
  /** The last claim index entry that can be claimed at that time. */
  readonly now: string;
  readonly and?: EntryConditions;
}

/** Counting stops here: no claim takes more. */
export const MAX_COUNTED = MAX_CLAIM_COUNT;

/**
 * What can be claimed of a run at one time, counted up to `MAX_COUNTED`. Each column probes `places`. Free and lapsed shards are counted
 * together, because one probe takes as long as a small write.
 */
export function hintColumns(schema: string, scope: HintScope): string {
  return `${timedColumns(schema, scope, ACTIVE_FROM)},
  0 AS free`;
}

/**
 * How many shards have no lease. The count is the same at all times, and the only slow column when there are many shards.
 *
 * `from`: the entry where counting begins; it wraps around. The entries behind the current claims are dead rows, which the server must
 * visit one by one until it can drop them.
 */
export function freeColumn(
  schema: string,
  { runId, and, from, isAsked = "true" }: Omit<HintScope, "now"> & { readonly from: string; readonly isAsked?: string },
): string {
  const entries = entriesOf(schema, runId, and?.free);
  return `(SELECT count(*)::int FROM (
     (SELECT ${entries} AND p.place >= ${from} AND p.place < ${FREE_TO} LIMIT ${MAX_COUNTED})
     UNION ALL
     (SELECT ${entries} AND p.place >= ${ACTIVE_FROM} AND p.place < ${from} LIMIT ${MAX_COUNTED})
     LIMIT ${MAX_COUNTED}) free WHERE ${isAsked}) AS free`;
}

/** Two times, as `now` of a scope, and where counting begins. */
export interface HintRange extends Omit<HintScope, "now"> {
  readonly and: EntryConditions;
  /** Null if no set asks for it. */
  readonly first: string;
  readonly last: string;
  readonly from: string;
}

/**
 * The capacity at all times from a first to a last: what is free; how many leases had lapsed by the first; when others did until the
 * last, which are hardly ever any; and when the next one will.
 */
export function rangeColumns(schema: string, { runId, first, last, from, and }: HintRange): string {
  const entries = entriesOf(schema, runId, and.held);
  return `
  ${freeColumn(schema, { runId, from, isAsked: `${first} IS NOT NULL`, and })},
  (SELECT count(*)::int FROM (SELECT ${entries} AND p.place >= ${FREE_TO} AND p.place <= ${first} LIMIT ${MAX_COUNTED}) lapsed) AS lapsed,
  ARRAY(SELECT ${CLAIMABLE_AT} ${entries}
        AND ${first} < ${last} AND p.place > ${first} AND p.place <= ${last} ORDER BY p.place LIMIT ${MAX_COUNTED}) AS lapsing,
  (SELECT ${CLAIMABLE_AT} ${entries} AND p.place > ${last} AND p.place < ${ACTIVE_TO} ORDER BY p.place LIMIT 1) AS earliest,
  (SELECT w.until FROM ${schema}.starved w WHERE w.run_id = ${runId}) AS starved_until`;
}

/** How many leases have lapsed, when the first of the others will, and until when the run is wanted. */
export function lapsedColumns(schema: string, scope: HintScope): string {
  return timedColumns(schema, scope, FREE_TO);
}

/** `from`: where those begin that are counted. */
function timedColumns(schema: string, { runId, now, and }: HintScope, from: string): string {
  const entries = entriesOf(schema, runId, and?.held);
  return `
  (SELECT count(*)::int FROM (SELECT ${entries} AND p.place >= ${from} AND p.place <= ${now} LIMIT ${MAX_COUNTED}) lapsed) AS lapsed,
  (SELECT ${CLAIMABLE_AT} ${entries} AND p.place > ${now} AND p.place < ${ACTIVE_TO} ORDER BY p.place LIMIT 1) AS earliest,
  (SELECT w.until FROM ${schema}.starved w WHERE w.run_id = ${runId}) AS starved_until`;
}

function entriesOf(schema: string, runId: string, and: string | undefined): string {
  return `FROM ${schema}.places p WHERE p.run_id = ${runId}${and === undefined ? "" : ` AND ${and}`}`;
}
