// A node of the service in a process of its own: `service-child.ts lmdb:FOLDER` or `service-child.ts postgres://…`.
import { Coordinator, systemClock } from "@gossip/coordination";
import { openLmdbStore } from "@gossip/coordination-lmdb";
import { openPostgresStore } from "@gossip/coordination-postgres";
import { GossipServer } from "@gossip/server";
import { unwrap } from "@gossip/stdx";

const [, , where = ""] = process.argv;
const store = where.startsWith("lmdb:")
  ? unwrap(await openLmdbStore({ path: where.slice("lmdb:".length) }))
  : unwrap(await openPostgresStore({ url: where }));
const clock = systemClock(Date.now);
const coordinator = new Coordinator({ store, clock, shardCopies: 20_000 });
const server = unwrap(await GossipServer.start({ coordinator, clock, listen: { port: 0 } }));
// The parent has gone.
process.on("disconnect", () => process.exit(0));
process.send!(server.url);
