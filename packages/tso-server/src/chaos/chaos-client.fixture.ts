// A client of the chaos test: callers that ask again and again, and write down what they saw and when. The monotonic
// clock of the machine is the same for all processes, so what different clients wrote can be compared.
import { openSync, writeSync } from "node:fs";
import { unwrap } from "@gossip/stdx";
import { WindowGrant } from "@gossip/tso";
import { TimestampClient } from "../client/timestamp-client.ts";
import { RECORD_SIZE, type ChaosClientOptions } from "./chaos-client-record.fixture.ts";

/** Most calls that wait at a time, and how many are made between two pauses. */
const MAX_UNDERWAY = 500;
const CALLS_PER_PAUSE = 3;

const options = JSON.parse(process.argv[2]!) as ChaosClientOptions;
const client = unwrap(
  TimestampClient.create({
    endpoints: options.endpoints,
    retryPolicy: { attemptMs: options.attemptMs, overallMs: 5000, maxBackoffMs: 100, backoffMs: 10 },
  }),
);
const out = openSync(options.outPath, "w");
let isOver = false;
const failures: Record<string, number> = {};
process.on("message", () => (isOver = true));
process.on("disconnect", () => process.exit(1));

// Asks on its own schedule, whether answers come or not: a caller that waits for a stopped leader would not ask it anything more.
const underway = new Set<Promise<void>>();
for (let asked = 0; !isOver; asked++) {
  if (underway.size < MAX_UNDERWAY) {
    const call = ask(asked % 16 === 0 ? 100 : 1).finally(() => underway.delete(call));
    underway.add(call);
  }
  if (asked % CALLS_PER_PAUSE === 0) await new Promise((resolve) => setTimeout(resolve, 1));
}
await Promise.all(underway);
client.close();
console.log(`done ${JSON.stringify(failures)}`);
process.exit(0);

async function ask(count: number): Promise<void> {
  const sentAt = process.hrtime.bigint();
  const granted = await client.getTsBatch(count);
  const receivedAt = process.hrtime.bigint();
  if (!granted.ok) {
    failures[granted.error.kind] = (failures[granted.error.kind] ?? 0) + 1;
    return;
  }
  const record = Buffer.alloc(RECORD_SIZE);
  record.writeBigUInt64LE(sentAt, 0);
  record.writeBigUInt64LE(receivedAt, 8);
  record.writeBigUInt64LE(WindowGrant.first(granted.value), 16);
  record.writeBigUInt64LE(WindowGrant.last(granted.value), 24);
  writeSync(out, record);
}
