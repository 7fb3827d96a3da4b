/**
 * The first schema. A released migration never changes: add another one.
 *
 * An unsigned 64-bit number is 8 bytes, most significant first, and sorts as the number does. Every other column repeats a value of
 * `record`, and the same statement writes both.
 *
 * No column of `shards` that changes is in an index of that table, so the server can update a row without touching an index. Claims search
 * the claim index, `places`: small rows with one index.
 */
export const migration1 = (schema: string): string => `
CREATE FUNCTION ${schema}.u64(bytes bytea) RETURNS numeric
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  AS $$ SELECT ('x' || substr(encode(bytes, 'hex'), 1, 8))::bit(32)::bigint::numeric * 4294967296
             + ('x' || substr(encode(bytes, 'hex'), 9, 8))::bit(32)::bigint::numeric $$;

CREATE TABLE ${schema}.totals (
  is_only     boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  shard_count bigint NOT NULL
);
INSERT INTO ${schema}.totals (shard_count) VALUES (0);

CREATE TABLE ${schema}.tenants (
  tenant      bytea PRIMARY KEY CHECK (octet_length(tenant) = 32),
  shard_count bigint NOT NULL
);

CREATE TABLE ${schema}.runs (
  id                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant            bytea NOT NULL,
  run               bytea NOT NULL CHECK (octet_length(run) = 8),
  version           bigint NOT NULL,
  status            text NOT NULL,
  cursor_semantics  text NOT NULL,
  lease_duration    bytea NOT NULL CHECK (octet_length(lease_duration) = 8),
  max_shard_retries bigint,
  shard_count       bigint NOT NULL,
  record            bytea NOT NULL,
  UNIQUE (tenant, run)
);
ALTER TABLE ${schema}.runs ALTER COLUMN record SET STORAGE EXTERNAL;
CREATE INDEX runs_there ON ${schema}.runs (tenant, run) WHERE status <> 'Deleted';

CREATE TABLE ${schema}.shards (
  run_id          bigint NOT NULL,
  version         bigint NOT NULL,
  attempts        bigint NOT NULL,
  shard           bytea NOT NULL CHECK (octet_length(shard) = 8),
  key_range_start bytea NOT NULL,
  status          text NOT NULL,
  fence           bytea NOT NULL,
  lease_owner     bytea,
  lease_deadline  bytea,
  parent          bytea,
  park_reason     text,
  cursor_key      bytea,
  record          bytea NOT NULL,
  PRIMARY KEY (run_id, shard)
) WITH (fillfactor = 70);
ALTER TABLE ${schema}.shards ALTER COLUMN record SET STORAGE EXTERNAL;
CREATE INDEX shards_in_order ON ${schema}.shards (run_id, substring(key_range_start FROM 1 FOR 512));

CREATE TABLE ${schema}.places (
  run_id       bigint NOT NULL,
  status       text NOT NULL,
  claimable_at bytea NOT NULL,
  spread       bigint NOT NULL,
  shard        bytea NOT NULL,
  PRIMARY KEY (run_id, status, claimable_at, spread, shard)
) WITH (autovacuum_vacuum_scale_factor = 0.05);

CREATE TABLE ${schema}.starved (
  run_id bigint PRIMARY KEY,
  until  bytea NOT NULL
);

${views(schema)}`;

const views = (schema: string): string => `
CREATE VIEW ${schema}.run_overview AS
  SELECT encode(r.tenant, 'hex') AS tenant, ${schema}.u64(r.run) AS run, r.status, r.shard_count,
         ${schema}.u64(r.lease_duration) AS lease_duration, r.max_shard_retries, r.cursor_semantics, r.id AS run_id
  FROM ${schema}.runs r;

CREATE VIEW ${schema}.shard_overview AS
  SELECT encode(r.tenant, 'hex') AS tenant, ${schema}.u64(r.run) AS run,
         ${schema}.u64(s.shard) AS shard, encode(s.shard, 'hex') AS shard_hex,
         s.status, s.park_reason, ${schema}.u64(s.lease_owner) AS lease_owner, ${schema}.u64(s.lease_deadline) AS lease_deadline,
         ${schema}.u64(s.fence) AS fence, s.attempts, encode(s.parent, 'hex') AS parent_hex,
         octet_length(s.cursor_key) AS cursor_size, octet_length(s.record) AS record_size, s.version, s.run_id
  FROM ${schema}.shards s JOIN ${schema}.runs r ON r.id = s.run_id;
`;
