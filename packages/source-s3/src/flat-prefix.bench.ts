// Listing one flat prefix: page after page, as most tools do, and in eight ranges that were planned by key. The server is
// a real one. It is on this machine, so its responses are delayed by what a page of 1,000 keys takes from a region of S3.
import type { ShardSpec } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";
import { radosGatewaySkipped, startRadosGateway, type RadosGateway } from "@gossip/tools/engines";
import { parseListing } from "./client/parse-listing.ts";
import { s3Source, type S3Source } from "./s3-source.ts";
import { startSlowNetwork, type SlowNetwork } from "./slow-network.fixture.ts";

const KEYS = 12_000;
const RANGES = 8;
const DELAY_MS = 250;
const PAGE_SIZE = 1000;

let server: RadosGateway;
let network: SlowNetwork;
let source: S3Source;
let shards: readonly ShardSpec[];

async function list({ keyRangeStart: start, keyRangeEnd: end }: ShardSpec): Promise<number> {
  let count = 0;
  const { signal } = new AbortController();
  for await (const { items } of source.read({ range: { start, end }, signal })) count += items.length;
  return count;
}

async function listAll(parts: readonly ShardSpec[]): Promise<void> {
  const counts = await Promise.all(parts.map(list));
  const listed = counts.reduce((sum, count) => sum + count, 0);
  if (listed !== KEYS) throw new Error(`listed ${listed} of ${KEYS} keys`);
}

const entry = (index: number): string =>
  `<Contents><Key>flat/${index}</Key><LastModified>2026-11-17T00:00:00.000Z</LastModified><ETag>&quot;e${index}&quot;</ETag><Size>${index}</Size></Contents>`;
const page = `<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>false</IsTruncated>${Array.from({ length: PAGE_SIZE }, (_, index) => entry(index)).join("")}</ListBucketResult>`;

compare("parse a page of 1,000 keys", {
  forms: { parseListing: () => parseListing(page) },
  options: { rounds: 5, callsPerRun: PAGE_SIZE, measureHeap: false },
});

// A server takes a quarter of a minute to start, so a smoke test does without.
if (!process.argv.includes("--smoke") && radosGatewaySkipped() === undefined)
  compare(`list one flat prefix of ${KEYS} keys, ${DELAY_MS} ms away`, {
    async before() {
      server = await startRadosGateway();
      const keys = Array.from({ length: KEYS }, (_, index) => `flat/${String(index * 7).padStart(6, "0")}`);
      const bucket = await server.makeBucket(keys);
      network = await startSlowNetwork(Number(new URL(server.endpoint).port), DELAY_MS);
      const endpoint = `http://127.0.0.1:${network.port}`;
      source = s3Source({ bucket, prefix: "flat/", endpoint, credentials: server.credentials });
      shards = unwrap(await source.plan({ shardCount: RANGES }));
    },
    async after() {
      await source.close();
      network.close();
      await server.dispose();
    },
    forms: {
      "eight ranges": () => listAll(shards),
      "page after page": async () => listAll(unwrap(await source.plan({ shardCount: 1 }))),
    },
    bounds: [{ form: "eight ranges", ratioAtMost: 1 / 3, toBestOf: ["page after page"] }],
    options: { rounds: 3, sampleMs: 1, warmMs: 1, callsPerRun: KEYS, measureHeap: false },
  });
