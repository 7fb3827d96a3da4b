// A node of the service in a process of its own, as it is in use: it shares no event loop with its clients.
//
// `service-node.fixture.ts FOLDER`: serves the LMDB store in FOLDER, and an address that answers everything with nothing.
import { Coordinator, systemClock } from "@gossip/coordination";
import { openLmdbStore } from "@gossip/coordination-lmdb";
import { unwrap } from "@gossip/stdx";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { GossipServer } from "../server.ts";

/** What the process sends when it listens. */
export interface NodeAddresses {
  readonly url: string;
  /** Answers every request with an empty object. */
  readonly emptyUrl: string;
}

/** What the process answers to `memory`, after a garbage collection, and to `waiting`. */
export interface MemoryReport {
  readonly rss: number;
  readonly heap: number;
  readonly waiting: number;
}

const [, , path] = process.argv;
const store = unwrap(await openLmdbStore({ path: path! }));
const clock = systemClock(Date.now);
const server = unwrap(
  await GossipServer.start({
    coordinator: new Coordinator({ store, clock, shardCopies: 20_000 }),
    clock,
    listen: { port: 0 },
  }),
);
const empty = createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    response.writeHead(200, { "content-type": "application/json", "content-length": 2 });
    response.end("{}");
  });
});
await new Promise<void>((resolve) => void empty.listen(0, "127.0.0.1", resolve));

process.on("message", (message) => {
  if (message === "memory") globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  process.send!({ rss, heap: heapUsed + external, waiting: server.waitingClaims } satisfies MemoryReport);
});
// The parent has gone.
process.on("disconnect", () => process.exit(0));
const { port } = empty.address() as AddressInfo;
process.send!({ url: server.url, emptyUrl: `http://127.0.0.1:${port}` } satisfies NodeAddresses);
