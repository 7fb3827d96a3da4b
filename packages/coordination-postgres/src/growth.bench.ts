// From 1,000 to 10,000,000 shards a call must not cost more than twice as much. The disk is left out of it, since waiting
// for it would hide the rest. The largest schema takes some gigabytes and minutes to fill.
import { Coordinator, systemClock } from "@gossip/coordination";
import { openPostgresStore, type PostgresStore } from "@gossip/coordination-postgres";
import { unwrap } from "@gossip/stdx";
import { startPostgres, type PostgresServer } from "@gossip/tools/engines";
import { growthFigure } from "@gossip/tools/growth";
import { Pool } from "pg";

const SETTINGS = {
  synchronous_commit: "off",
  fsync: "off",
  full_page_writes: "off",
  autovacuum: "off",
  max_wal_size: "8GB",
  shared_buffers: "2GB",
};

let server: PostgresServer | undefined;
const stores: PostgresStore[] = [];

growthFigure({
  store: "PostgreSQL",
  sizes: [1000, 100_000, 1_000_000, 10_000_000],
  perWrite: 10_000,
  coordinatorOf: (store) => new Coordinator({ store, clock: systemClock(Date.now) }),
  async open(size) {
    server ??= await startPostgres({ settings: SETTINGS });
    const store = unwrap(await openPostgresStore({ url: server.url, schema: `of_${size}`, maxConnections: 2 }));
    stores.push(store);
    return store;
  },
  // As a server does by itself when it has the time: cleaning up must not be part of a measurement.
  async settle(filled) {
    const pool = new Pool({ connectionString: server!.url, max: 1 });
    await pool.query("VACUUM ANALYZE");
    await pool.query("CHECKPOINT");
    await pool.end();
    return filled;
  },
  async close() {
    for (const store of stores) await store.close();
    await server?.dispose();
  },
});
