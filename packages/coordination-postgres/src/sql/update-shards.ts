import { batchAnswer, runAnswer } from "./batch-answer.ts";
import type { EntryConditions } from "./hint-columns.ts";
import { inputOfRun } from "./input-of-run.ts";
import { moveEntries } from "./move-claim-index-entries.ts";
import { FREE_TO } from "./claim-index-bytes.ts";
import type { Statement } from "./statement.ts";
import { countChanges, IS_COUNTING } from "./status-counts.ts";

/** One array a column, one element a shard. */
const ARRAYS = `$2::bytea[], $3::bigint[], $4::bigint[], $5::bytea[], $6::bytea[], $7::text[], $8::text[], $9::bytea[], $10::bytea[], $11::bytea[],
              $12::bigint[], $13::bytea[], $14::bytea[]`;
const COLUMNS = `shard, guard, attempts, cursor_key, record, status, park_reason, lease_owner, lease_deadline, fence,
                                run_guard, left_place, taken_place`;

const SET = `
  SET version = s.version + 1, status = i.status, park_reason = i.park_reason, lease_owner = i.lease_owner,
      lease_deadline = i.lease_deadline, fence = i.fence, attempts = i.attempts, cursor_key = i.cursor_key, record = i.record`;

const RETURNING = "RETURNING i.ordinal, s.run_id, i.left_place, i.taken_place";

/**
 * The condition that an entry is not one that the statement removed.
 *
 * `NOT IN` makes the server build one hash table, however it plans the joins. Free and held entries have a table each, because
 * nearly every batch removes only one kind.
 */
function unleft(place: string, left: string): EntryConditions {
  const except = (which: string): string =>
    `${place} NOT IN (SELECT ${left} FROM written w WHERE w.left_place ${which} ${FREE_TO})`;
  return { free: except("<"), held: except(">=") };
}

const UNLEFT_IN_RUN = unleft("p.place", "w.left_place");
const UNLEFT = unleft("(p.run_id, p.place)", "w.run_id, w.left_place");

/** A statement that updates shards, and one that also counts their changes of status. */
export interface UpdateStatement extends Statement {
  readonly counting: Statement;
}

/** Conditions and parts that a statement adds to the plain one. */
interface UpdateForm {
  readonly lock: string;
  readonly guard: string;
  readonly count: (schema: string) => string;
}

type UpdateText = (schema: string, form: UpdateForm) => string;

function statementOf(name: string, text: UpdateText, { lock, guard }: Locking): UpdateStatement {
  return {
    name,
    text: (schema) => text(schema, { lock: lock(schema), guard, count: () => "" }),
    counting: {
      name: `${name}_counting`,
      text: (schema) => text(schema, { lock: lock(schema), guard: `${guard} AND ${IS_COUNTING}`, count: countChanges }),
    },
  };
}

interface Locking {
  readonly lock: (schema: string) => string;
  readonly guard: string;
}

const UNLOCKED: Locking = { lock: () => "", guard: "" };

/**
 * Writes shards of one run, each if its version is still the one that was read, and moves their claim index entries.
 *
 * The capacity counts only shards that this statement does not write. The caller adds the written ones.
 */
const updateShardsOfRun: UpdateText = (schema, { lock, guard, count }) => `
WITH ${lock}written AS (
  UPDATE ${schema}.shards s ${SET}
  FROM (${inputOfRun(ARRAYS, COLUMNS)}) i
  WHERE s.run_id = i.run_id AND s.shard = i.shard AND s.version = i.guard${guard}
  ${RETURNING}
),${count(schema)}${moveEntries(schema)}${runAnswer(schema, { runId: "$1", first: "$15::bytea", last: "$16::bytea", from: "$17::bytea" }, UNLEFT_IN_RUN)}`;

/** For sets without a run guard. */
export const UPDATE_SHARDS_OF_RUN: UpdateStatement = statementOf("update_shards_of_run", updateShardsOfRun, UNLOCKED);

/**
 * For sets of which at least one has a run guard. Locks the run against writes until the statement ends: a caller that ends a run has
 * read the states of its shards, and none may change in between.
 */
export const UPDATE_SHARDS_OF_GUARDED_RUN: UpdateStatement = statementOf(
  "update_shards_of_guarded_run",
  updateShardsOfRun,
  {
    lock: (schema) => `locked AS MATERIALIZED (SELECT r.version FROM ${schema}.runs r WHERE r.id = $1 FOR SHARE),
`,
    guard: " AND (i.run_guard IS NULL OR i.run_guard = (SELECT version FROM locked))",
  },
);

/** The same of several runs. */
const updateShards: UpdateText = (schema, { lock, guard, count }) => `
WITH input AS MATERIALIZED (SELECT * FROM unnest($1::bigint[], ${ARRAYS}) WITH ORDINALITY AS given(run_id, ${COLUMNS}, ordinal)),${lock}
written AS (
  UPDATE ${schema}.shards s ${SET}
  FROM input i
  WHERE s.run_id = i.run_id AND s.shard = i.shard AND s.version = i.guard${guard}
  ${RETURNING}
),${count(schema)}${moveEntries(schema)}${batchAnswer(schema, { runs: "$15::bigint[], $16::bytea[], $17::bytea[]", moments: "$18::bigint[], $19::bytea[]" }, UNLEFT)}`;

export const UPDATE_SHARDS: UpdateStatement = statementOf("update_shards", updateShards, UNLOCKED);

export const UPDATE_SHARDS_OF_RUNS: UpdateStatement = statementOf("update_shards_of_runs", updateShards, {
  lock: (schema) => `
run_ids AS MATERIALIZED (SELECT DISTINCT run_id FROM input WHERE run_guard IS NOT NULL),
locked AS MATERIALIZED (
  SELECT r.id, r.version FROM ${schema}.runs r
  WHERE r.id IN (SELECT run_id FROM run_ids)
  ORDER BY r.id
  FOR SHARE
),`,
  guard: `
    AND (i.run_guard IS NULL OR (i.run_id, i.run_guard) IN (SELECT id, version FROM locked))`,
});
