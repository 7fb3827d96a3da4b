import type { Statement } from "./statement.ts";

/** `$1` holds the bytes of all rows, laid out by `ShardPack`; the arrays have one element a row. */
const INPUT = `
  SELECT ordinal, run_id, guard, run_guard, status, park_reason, attempts,
         substring($1::bytea FROM place FOR 8) AS shard,
         CASE WHEN has_lease THEN substring($1::bytea FROM place + 8 FOR 8) END AS lease_owner,
         CASE WHEN has_lease THEN substring($1::bytea FROM place + 16 FOR 8) END AS lease_deadline,
         substring($1::bytea FROM place + 24 FOR 8) AS fence,
         substring($1::bytea FROM place + 32 FOR record_size) AS record,
         substring($1::bytea FROM place + 32 + record_size FOR key_size) AS cursor_key
  FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::boolean[], $8::bigint[], $9::int[], $10::int[], $11::int[])
       WITH ORDINALITY AS given(run_id, guard, run_guard, status, park_reason, has_lease, attempts, place, record_size, key_size, ordinal)`;

const SET = `
  SET version = s.version + 1, status = i.status, park_reason = i.park_reason, lease_owner = i.lease_owner,
      lease_deadline = i.lease_deadline, fence = i.fence, attempts = i.attempts, cursor_key = i.cursor_key, record = i.record`;

/**
 * Write shards, each where its version is still the one that was read, and answer which were written; with each moment
 * that is asked for comes the capacity of its run, under its number made negative.
 *
 * A statement sees nothing of what it writes itself. So the capacity is counted over what it has not written, and the
 * caller, who knows what was, adds it.
 */
function updateShards(schema: string, { locks, guard }: { readonly locks: string; readonly guard: string }): string {
  // So written it is looked up in a hash table that is made once, however the joins are planned.
  const unwritten = `(s.run_id, s.shard) NOT IN (SELECT w.run_id, w.shard FROM written w)`;
  return `
WITH input AS MATERIALIZED (${INPUT}),${locks}
written AS (
  UPDATE ${schema}.shards s ${SET}
  FROM input i
  WHERE s.run_id = i.run_id AND s.shard = i.shard AND s.version = i.guard${guard}
  RETURNING i.ordinal, s.run_id, s.shard
)
SELECT ordinal, NULL::bigint AS available, NULL::bytea AS earliest, NULL::bytea AS starved_until FROM written
UNION ALL
SELECT -m.ordinal,
  (SELECT count(*) FROM (
     SELECT FROM ${schema}.shards s
     WHERE s.run_id = m.run_id AND s.status = 'Active' AND s.claimable_at <= m.now AND ${unwritten}
     LIMIT 1000) claimable),
  (SELECT s.claimable_at FROM ${schema}.shards s
   WHERE s.run_id = m.run_id AND s.status = 'Active' AND s.claimable_at > m.now AND ${unwritten}
   ORDER BY s.claimable_at LIMIT 1),
  (SELECT v.until FROM ${schema}.starved v WHERE v.run_id = m.run_id)
FROM unnest($12::bigint[], $13::bytea[]) WITH ORDINALITY AS m(run_id, now, ordinal)`;
}

/** No set says which version its run must have. */
export const UPDATE_SHARDS: Statement = {
  name: "update_shards",
  text: (schema) => updateShards(schema, { locks: "", guard: "" }),
};

/**
 * Some set says which version its run must have. The run is then locked against being written until this is over: whoever
 * ends a run has seen the states of its shards, and none may change behind his back.
 */
export const UPDATE_SHARDS_OF_RUNS: Statement = {
  name: "update_shards_of_runs",
  text: (schema) =>
    updateShards(schema, {
      locks: `
run_ids AS MATERIALIZED (SELECT DISTINCT run_id FROM input WHERE run_guard IS NOT NULL),
locked AS MATERIALIZED (
  SELECT r.id, r.version FROM ${schema}.runs r
  WHERE r.id IN (SELECT run_id FROM run_ids)
  ORDER BY r.id
  FOR SHARE
),`,
      guard: `
    AND (i.run_guard IS NULL OR (i.run_id, i.run_guard) IN (SELECT id, version FROM locked))`,
    }),
};
