// Lets processes work on a store for a while, each until it is killed and another takes its place.
import type { ChildProcess } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { effort, seededRandom } from "../explore/effort.ts";
import { waitFor, type Ended } from "./bundled-processes.ts";
import type { FaultWorkerConfig } from "./fault-log.ts";

/** How long a fault run lasts: a little while in `npm test`, a minute in `npm run explore`. */
export const FAULT_SECONDS = Number(process.env["GOSSIP_FAULT_SECONDS"] ?? effort({ usual: 3, exploring: 60 }));

const PROCESSES = 4;
const SESSIONS = 6;
const ROOTS = 24;
/** How long a process works before it is killed, at least and beyond that. */
const MIN_LIFE_MS = 100;
const LIFE_SPREAD_MS = 3000;
/** One in so many is killed while it starts, at the latest after so long. */
const ONE_IN_EARLY = 5;
const EARLY_SPREAD_MS = 1000;
const LOOK_MS = 20;
/** Bytes of a line, about. */
const ANSWER_SIZE = 55;
const MOST_MORE_MS = 120_000;
const LOOK_AT_LOGS_MS = 500;

export interface Torment {
  /** Where each process records the results that it received. */
  readonly logs: string;
  /** Start a process that calls `runFaultWorker` with this. */
  readonly start: (config: FaultWorkerConfig) => Promise<ChildProcess>;
  /** What else is broken meanwhile, until it is over. */
  readonly alsoBreak?: (isOver: () => boolean) => Promise<void>;
  /**
   * Whether enough has happened to say something, all that is demanded afterwards included. Until then it goes on beyond its
   * time, for two minutes at most: the machine may be busy. Asked now and then, as reading the logs takes a while.
   */
  readonly isEnough?: (kills: number) => boolean;
}

/** How many processes were killed. A process that ends by itself has found something wrong: that is thrown. */
export async function torment({ logs, start, alsoBreak, isEnough = () => true }: Torment): Promise<number> {
  const endsAt = performance.now() + FAULT_SECONDS * 1000;
  let looksAt = endsAt;
  let hasEnough = false;
  const isOver = (): boolean => {
    const now = performance.now();
    if (!hasEnough && now >= looksAt) {
      hasEnough = isEnough(kills) || now >= endsAt + MOST_MORE_MS;
      looksAt = performance.now() + LOOK_AT_LOGS_MS;
    }
    return hasEnough;
  };
  let incarnation = 0;
  let kills = 0;
  const alive = new Set<ChildProcess>();
  const live = async (): Promise<void> => {
    while (!isOver()) {
      const number = ++incarnation;
      const config = { logPath: join(logs, String(number)), incarnation: number, sessions: SESSIONS, roots: ROOTS };
      const child = await start(config);
      alive.add(child);
      const ended = waitFor(child).finally(() => alive.delete(child));
      await Promise.race([lifeOf(config, isOver), ended]);
      const isLast = isOver();
      if (isLast) child.kill("SIGTERM");
      else if (child.kill("SIGKILL")) kills++;
      assertKilled(await ended, isLast);
    }
  };
  try {
    await Promise.all([...Array.from({ length: PROCESSES }, live), alsoBreak?.(isOver)]);
  } finally {
    // Where one of them has found something wrong the others are still at work.
    for (const child of alive) child.kill("SIGKILL");
  }
  return kills;
}

/** How many answers have been written down so far, about. */
export function countAnswers(logs: string): number {
  return readdirSync(logs).reduce((sum, name) => sum + statSync(join(logs, name)).size, 0) / ANSWER_SIZE;
}

/**
 * Settles when a process is to be killed. Its life begins when it has opened its log, and so its store: a busy machine takes
 * seconds for that, and a process that never got so far would show nothing.
 */
async function lifeOf({ logPath, incarnation }: FaultWorkerConfig, isOver: () => boolean): Promise<void> {
  const random = seededRandom(-incarnation);
  const isEarly = random() * ONE_IN_EARLY < 1;
  while (!isEarly && !isOver() && !existsSync(logPath)) await sleep(LOOK_MS);
  const diesAt = performance.now() + (isEarly ? random() * EARLY_SPREAD_MS : MIN_LIFE_MS + random() * LIFE_SPREAD_MS);
  while (!isOver() && performance.now() < diesAt) await sleep(LOOK_MS);
}

function assertKilled({ code, signal, errors }: Ended, isLast: boolean): void {
  const isKilled = signal === "SIGKILL" || (isLast && (code === 0 || signal === "SIGTERM"));
  if (!isKilled) throw new Error(`a worker ended with ${code ?? signal}: ${errors}`);
}
