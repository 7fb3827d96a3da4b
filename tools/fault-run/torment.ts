// Lets processes work on a store for a while, each until it is killed and another takes its place.
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { waitFor, type Ended } from "./bundled-processes.ts";
import type { FaultWorkerConfig } from "./fault-log.ts";

/** How long a fault run lasts: a little while in every test run, long where `GOSSIP_FAULT_SECONDS` says so. */
export const FAULT_SECONDS = Number(process.env["GOSSIP_FAULT_SECONDS"] ?? 8);

const PROCESSES = 4;
const SESSIONS = 6;
const ROOTS = 24;
const MIN_LIFE_MS = 100;
const LIFE_SPREAD_MS = 3500;

export interface Torment {
  /** Where each process writes down what it was told. */
  readonly logs: string;
  /** Start a process that calls `runFaultWorker` with this. */
  readonly start: (config: FaultWorkerConfig) => Promise<ChildProcess>;
  /** What else is broken meanwhile, until it is over. */
  readonly alsoBreak?: (isOver: () => boolean) => Promise<void>;
}

/** How many processes were killed. A process that ends by itself has found something wrong: that is thrown. */
export async function torment({ logs, start, alsoBreak }: Torment): Promise<number> {
  const endsAt = performance.now() + FAULT_SECONDS * 1000;
  const isOver = (): boolean => performance.now() >= endsAt;
  let incarnation = 0;
  let kills = 0;
  const live = async (): Promise<void> => {
    while (!isOver()) {
      const number = ++incarnation;
      const child = await start({ logPath: join(logs, String(number)), incarnation: number, sessions: SESSIONS, roots: ROOTS });
      const ended = waitFor(child);
      // Some are killed before they have opened the store.
      const life = sleep(Math.max(0, Math.min(MIN_LIFE_MS + Math.random() * LIFE_SPREAD_MS, endsAt - performance.now())));
      await Promise.race([life, ended]);
      const isLast = isOver();
      if (isLast) child.kill("SIGTERM");
      else if (child.kill("SIGKILL")) kills++;
      assertKilled(await ended, isLast);
    }
  };
  await Promise.all([...Array.from({ length: PROCESSES }, live), alsoBreak?.(isOver)]);
  return kills;
}

function assertKilled({ code, signal, errors }: Ended, isLast: boolean): void {
  const isKilled = signal === "SIGKILL" || (isLast && (code === 0 || signal === "SIGTERM"));
  if (!isKilled) throw new Error(`a worker ended with ${code ?? signal}: ${errors}`);
}
