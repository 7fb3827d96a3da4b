// A token is revoked because it is in the wrong hands. A stream of events or a claim that waits was let in before that: if it
// went on, the thief would read on for as long as the connection lasts.
import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId } from "@gossip/contracts";
import { Coordinator, MemoryStore } from "@gossip/coordination";
import { ManualClock } from "@gossip/coordination/testing";
import { unwrap } from "@gossip/stdx";
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { GossipServer } from "../server.ts";
import { TokenBook } from "./token-book.ts";
import { changeTokenFile } from "./token-file.ts";
import { makeToken, type TokenRecord } from "./token.ts";

const tenant = TenantId.fromBytes(new Uint8Array(32).fill(1));
const run = RunId.fromRaw(1n);
let folder: string;
let path: string;
let book: TokenBook;
let server: GossipServer;
let coordinator: Coordinator;
let drawn = 0;

async function addToken(): Promise<{ readonly token: string; readonly record: TokenRecord }> {
  const random = (size: number) => createHash("sha512").update(String(drawn++)).digest().subarray(0, size);
  const made = makeToken({ name: "ci", role: "work", tenants: [tenant], createdAtMs: 1 }, random);
  unwrap(await changeTokenFile(path, (tokens) => ({ tokens: [...tokens, made.record], result: undefined })));
  return made;
}

async function revoke({ id }: TokenRecord): Promise<void> {
  const change = (tokens: readonly TokenRecord[]) => ({
    tokens: tokens.map((token) => (token.id === id ? { ...token, revokedAtMs: 2 } : token)),
    result: undefined,
  });
  unwrap(await changeTokenFile(path, change));
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "gossip-revocation-"));
  path = join(folder, "tokens.json");
  const clock = new ManualClock(1_000n);
  coordinator = new Coordinator({ store: new MemoryStore(), clock });
  const spec = ShardSpec.withRange({ start: Uint8Array.of(1), end: Uint8Array.of(2) });
  const shards = [{ shard: ShardId.fromRaw(1n), spec, cursor: Cursor.initial() }];
  const config = { leaseDuration: 600_000n };
  unwrap(await coordinator.createRunWithShards({ tenant, run, config, shards, opId: OpId.fromRaw(1n) }));
  unwrap(await coordinator.claim({ tenant, run, worker: 9n as never }));
});
afterEach(async () => {
  await server.close();
  book.close();
  await rm(folder, { recursive: true });
});

async function serve(): Promise<void> {
  book = unwrap(await TokenBook.open({ path, nowMs: () => 1 }));
  const { authenticate, isLive } = book;
  const clock = new ManualClock(1_000n);
  server = unwrap(await GossipServer.start({ coordinator, clock, listen: { port: 0 }, authenticate, isLive }));
}

const headersOf = (token: string) => ({ authorization: `Bearer ${token}`, "content-type": "application/json" });

/** Wait for a shard. Resolves with the status once the server responds. */
async function wait(token: string, worker: string): Promise<number> {
  const element = { run: "0000000000000001", worker, opId: worker };
  const body = JSON.stringify({ elements: [element], waitMs: 60_000 });
  return (await fetch(`${server.url}/v1/claim`, { method: "POST", headers: headersOf(token), body })).status;
}

async function untilWaiting(count: number): Promise<void> {
  while (server.waitingClaims !== count) await new Promise((resolve) => setImmediate(resolve));
}

test("a revoked token ends its streams and waiting claims, and those of other tokens go on", async () => {
  const [stolen, kept] = [await addToken(), await addToken()];
  await serve();
  const streams = await Promise.all(
    [stolen, kept].map(({ token }) => fetch(`${server.url}/v1/events`, { headers: headersOf(token) })),
  );
  const [cut, open] = streams.map((response) =>
    response.text().then(
      (text) => text,
      () => "cut",
    ),
  );
  const waiting = wait(stolen.token, "0000000000000001");
  const other = wait(kept.token, "0000000000000002");
  await untilWaiting(2);

  await revoke(stolen.record);
  expect(await cut).toBe("cut");
  expect(await waiting).toBe(401);
  await untilWaiting(1);

  unwrap(await coordinator.cancelRun({ tenant, run, opId: OpId.fromRaw(2n) }));
  expect(await other).toBe(200);
  await server.drain();
  expect(await open).toContain("RunCancelled");
});
