/**
 * Notes: small documents that a run keeps next to its shards, and views that show them. The views of runs and shards get
 * columns for people: ids as the command line prints them, times as such, and the names of workers.
 *
 * A key can be longer than an index entry. The index has its first 512 bytes, and the digest of longer ones. `value` is JSON in UTF-8,
 * stored as bytes because they come back exactly as they were written, whatever the encoding of the database.
 *
 * It only adds: a process of the previous version keeps working, but leaves the notes of a run that it removes. `fsck` reports them.
 */
export const migration5 = (schema: string): string => `
CREATE TABLE ${schema}.notes (
  run_id bigint NOT NULL,
  space  smallint NOT NULL,
  key    bytea NOT NULL,
  value  bytea NOT NULL
);
CREATE UNIQUE INDEX notes_by_key ON ${schema}.notes
  (run_id, space, substring(key FROM 1 FOR 512), (CASE WHEN octet_length(key) > 512 THEN sha256(key) ELSE ''::bytea END));

CREATE FUNCTION ${schema}.time_of(bytes bytea) RETURNS timestamptz
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  AS $$ SELECT CASE WHEN ${schema}.u64(bytes) < 253370764800000 THEN to_timestamp((${schema}.u64(bytes) / 1000)::double precision) END $$;

CREATE FUNCTION ${schema}.json_of(value bytea) RETURNS json
  LANGUAGE sql STABLE STRICT PARALLEL SAFE
  AS $$ SELECT convert_from(value, 'UTF8')::json $$;

${views(schema)}`;

/** The columns that every view of notes begins with. */
const OF_RUN = "encode(r.tenant, 'hex') AS tenant, encode(r.run, 'hex') AS run_hex";

const time = (schema: string, field: string): string =>
  `${schema}.time_of(decode(${schema}.json_of(n.value) ->> '${field}', 'hex'))`;

const views = (schema: string): string => `
CREATE VIEW ${schema}.failure_overview AS
  SELECT ${OF_RUN}, n.key, j.v ->> 'reason' AS reason, j.v ->> 'error' AS error, (j.v ->> 'attempts')::bigint AS attempts,
         ${time(schema, "at")} AS failed_at, j.v ->> 'shard' AS shard_hex, j.v ->> 'worker' AS worker_hex, j.v ->> 'workerName' AS worker_name,
         n.run_id
  FROM ${schema}.notes n JOIN ${schema}.runs r ON r.id = n.run_id, LATERAL (SELECT ${schema}.json_of(n.value) AS v) j
  WHERE n.space = 1;

CREATE VIEW ${schema}.worker_overview AS
  SELECT ${OF_RUN}, encode(n.key, 'hex') AS worker_hex, j.v ->> 'name' AS name, j.v ->> 'host' AS host, (j.v ->> 'pid')::bigint AS pid,
         j.v ->> 'version' AS version, ${time(schema, "startedAt")} AS started_at, (j.v ->> 'shardCount')::bigint AS shard_count,
         (j.v ->> 'itemCount')::bigint AS item_count, (j.v ->> 'itemsPerSecond')::double precision AS items_per_second,
         ${time(schema, "at")} AS seen_at, ${time(schema, "expiresAt")} AS expires_at, n.run_id
  FROM ${schema}.notes n JOIN ${schema}.runs r ON r.id = n.run_id, LATERAL (SELECT ${schema}.json_of(n.value) AS v) j
  WHERE n.space = 2;

CREATE VIEW ${schema}.parked_overview AS
  SELECT ${OF_RUN}, encode(s.shard, 'hex') AS shard_hex, s.park_reason, j.v ->> 'error' AS error, (j.v ->> 'attempts')::bigint AS attempts,
         decode(rpad(translate(j.v ->> 'item', '-_', '+/'), (length(j.v ->> 'item') + 3) / 4 * 4, '='), 'base64') AS item,
         ${time(schema, "at")} AS parked_at, j.v ->> 'worker' AS worker_hex, j.v ->> 'workerName' AS worker_name, s.run_id
  FROM ${schema}.shards s JOIN ${schema}.runs r ON r.id = s.run_id
  LEFT JOIN ${schema}.notes n ON n.run_id = s.run_id AND n.space = 3 AND substring(n.key FROM 1 FOR 512) = s.shard AND n.key = s.shard
  LEFT JOIN LATERAL (SELECT ${schema}.json_of(n.value) AS v) j ON true
  WHERE s.status = 'Parked';

CREATE OR REPLACE VIEW ${schema}.run_overview AS
  SELECT encode(r.tenant, 'hex') AS tenant, ${schema}.u64(r.run) AS run, r.status, r.shard_count,
         ${schema}.u64(r.lease_duration) AS lease_duration, r.max_shard_retries, r.cursor_semantics, r.id AS run_id,
         encode(r.run, 'hex') AS run_hex
  FROM ${schema}.runs r;

CREATE OR REPLACE VIEW ${schema}.shard_overview AS
  SELECT encode(r.tenant, 'hex') AS tenant, ${schema}.u64(r.run) AS run,
         ${schema}.u64(s.shard) AS shard, encode(s.shard, 'hex') AS shard_hex,
         s.status, s.park_reason, ${schema}.u64(s.lease_owner) AS lease_owner, ${schema}.u64(s.lease_deadline) AS lease_deadline,
         ${schema}.u64(s.fence) AS fence, s.attempts, encode(s.parent, 'hex') AS parent_hex,
         octet_length(s.cursor_key) AS cursor_size, octet_length(s.record) AS record_size, s.version, s.run_id,
         encode(r.run, 'hex') AS run_hex, encode(s.lease_owner, 'hex') AS lease_owner_hex,
         ${schema}.time_of(s.lease_deadline) AS lease_expires_at, ${schema}.json_of(n.value) ->> 'name' AS worker_name
  FROM ${schema}.shards s JOIN ${schema}.runs r ON r.id = s.run_id
  LEFT JOIN ${schema}.notes n ON n.run_id = s.run_id AND n.space = 2
    AND substring(n.key FROM 1 FOR 512) = s.lease_owner AND n.key = s.lease_owner;
`;
