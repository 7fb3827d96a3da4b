import { ACTIVE_FROM, ACTIVE_TO, PARKED_FROM, PARKED_TO, SPLIT_FROM, SPLIT_TO } from "./claim-index-bytes.ts";
import { ADD_ON_CONFLICT, OWN_SLOT } from "./status-counts.ts";

const resting = (row: string): string =>
  `(${row}.status = 'Active' AND ${row}.lease_owner IS NULL AND ${row}.cursor_key IS NOT NULL)`;

const change = (status: string): string => `(NEW.status = '${status}')::int - (OLD.status = '${status}')::int`;

/**
 * Status counts: how many shards of a run are done, split and parked, in a few rows per run whose sum counts. And the resting shards: active,
 * without a lease, and with a cursor. The status of a run then reads neither the shards nor their claim index entries.
 *
 * Triggers update both, so that a process of the previous version, which does not know them, updates them too. A statement of this
 * version counts a whole batch itself and says so with the setting `gossip.counted`, which ends with its transaction. Checkpoints do not
 * name the column `status`, and fire nothing.
 *
 * Creating the triggers locks the shards against writes until the migration ends, so that nothing changes while it counts.
 */
export const migration6 = (schema: string): string => `
SET LOCAL statement_timeout = 0;

CREATE TABLE ${schema}.status_counts (
  run_id bigint NOT NULL,
  slot   smallint NOT NULL,
  done   bigint NOT NULL,
  split  bigint NOT NULL,
  parked bigint NOT NULL,
  PRIMARY KEY (run_id, slot)
) WITH (fillfactor = 50);

CREATE TABLE ${schema}.resting (
  run_id bigint NOT NULL,
  shard  bytea NOT NULL,
  PRIMARY KEY (run_id, shard)
);

CREATE FUNCTION ${schema}.count_status() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO ${schema}.status_counts AS c (run_id, slot, done, split, parked)
  VALUES (NEW.run_id, ${OWN_SLOT}, ${change("Done")}, ${change("Split")}, ${change("Parked")})
  ${ADD_ON_CONFLICT};
  RETURN NULL;
END $$;

CREATE FUNCTION ${schema}.note_resting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF ${resting("NEW")} THEN
    INSERT INTO ${schema}.resting (run_id, shard) VALUES (NEW.run_id, NEW.shard) ON CONFLICT DO NOTHING;
  ELSE
    DELETE FROM ${schema}.resting r WHERE r.run_id = NEW.run_id AND r.shard = NEW.shard;
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION ${schema}.count_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO ${schema}.status_counts AS c (run_id, slot, done, split, parked)
  SELECT a.run_id, ${OWN_SLOT}, count(*) FILTER (WHERE a.status = 'Done'), count(*) FILTER (WHERE a.status = 'Split'),
         count(*) FILTER (WHERE a.status = 'Parked')
  FROM added a WHERE a.status <> 'Active' GROUP BY a.run_id
  ${ADD_ON_CONFLICT};
  INSERT INTO ${schema}.resting (run_id, shard)
  SELECT a.run_id, a.shard FROM added a WHERE ${resting("a")} ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

CREATE FUNCTION ${schema}.remove_counts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM ${schema}.status_counts c WHERE c.run_id = NEW.id;
  DELETE FROM ${schema}.resting r WHERE r.run_id = NEW.id;
  RETURN NULL;
END $$;

CREATE TRIGGER count_status AFTER UPDATE OF status ON ${schema}.shards FOR EACH ROW
  WHEN (OLD.status <> NEW.status AND current_setting('gossip.counted', true) IS DISTINCT FROM 'yes')
  EXECUTE FUNCTION ${schema}.count_status();
CREATE TRIGGER note_resting AFTER UPDATE OF status ON ${schema}.shards FOR EACH ROW
  WHEN (${resting("OLD")} <> ${resting("NEW")})
  EXECUTE FUNCTION ${schema}.note_resting();
CREATE TRIGGER count_added AFTER INSERT ON ${schema}.shards REFERENCING NEW TABLE AS added FOR EACH STATEMENT
  EXECUTE FUNCTION ${schema}.count_added();
CREATE TRIGGER remove_counts AFTER UPDATE OF status ON ${schema}.runs FOR EACH ROW
  WHEN (NEW.status = 'Deleted' AND OLD.status <> 'Deleted')
  EXECUTE FUNCTION ${schema}.remove_counts();

INSERT INTO ${schema}.status_counts (run_id, slot, done, split, parked)
SELECT r.id, 0, r.shard_count - p.active - p.split - p.parked, p.split, p.parked
FROM ${schema}.runs r
CROSS JOIN LATERAL (
  SELECT count(*) FILTER (WHERE place >= ${ACTIVE_FROM} AND place < ${ACTIVE_TO}) AS active,
         count(*) FILTER (WHERE place >= ${SPLIT_FROM} AND place < ${SPLIT_TO}) AS split,
         count(*) FILTER (WHERE place >= ${PARKED_FROM} AND place < ${PARKED_TO}) AS parked
  FROM ${schema}.places WHERE run_id = r.id
) p
WHERE r.status <> 'Deleted' AND r.shard_count > 0;

INSERT INTO ${schema}.resting (run_id, shard) SELECT s.run_id, s.shard FROM ${schema}.shards s WHERE ${resting("s")};
`;
