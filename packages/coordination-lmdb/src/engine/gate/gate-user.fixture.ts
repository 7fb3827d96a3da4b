// A process, or a thread, that uses the gate of a store in one way, and says what came of it.

import { openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { parentPort } from "node:worker_threads";
import { unwrap } from "@gossip/stdx";
import { openLmdbStore } from "../../open/open-lmdb-store.ts";
import { OpenGate } from "./open-gate.ts";

/**
 * - `Look`: opens through the gate. Says whether no process committed during the open, which takes a while.
 * - `Hang`: begins to open and never ends.
 * - `Commit`: begins a commit and never ends it.
 * - `Open`: opens and closes the store `opens` times.
 */
export interface GateUse {
  readonly kind: "Look" | "Hang" | "Commit" | "Open";
  readonly path: string;
  readonly opens: number;
}

const use = JSON.parse(process.argv[2]!) as GateUse;
const LIMITS = { commitMs: 60_000, openMs: 60_000 };
const LOOK_MS = 300;

function say(what: string): void {
  if (parentPort === null) writeSync(1, what);
  else parentPort.postMessage(what);
}

function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Both pages of a store of which every commit writes one. */
function readHead(path: string): Buffer {
  const head = Buffer.alloc(16_384);
  readSync(openSync(join(path, "data.mdb"), "r"), head, 0, head.length, 0);
  return head;
}

async function run(): Promise<void> {
  if (use.kind === "Open") {
    for (let count = 0; count < use.opens; count++)
      await unwrap(await openLmdbStore({ path: use.path, durability: "Written" })).close();
    return;
  }
  const gate = new OpenGate(use.path, LIMITS);
  if (use.kind === "Commit") {
    setInterval(() => {}, 1 << 30);
    await gate.pass(() => {
      say("begun");
      return new Promise(() => {});
    });
  }
  const isQuiet = await gate.openAlone(() => {
    if (use.kind === "Hang") {
      say("begun");
      block(Infinity);
    }
    const before = readHead(use.path);
    block(LOOK_MS);
    return readHead(use.path).equals(before);
  });
  await gate.close();
  say(JSON.stringify({ isQuiet }));
}

await run();
