// What processes of a fault run write down, each in a file of its own, and the shards that they work on.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Cursor, ShardId, ShardSpec, type InitialShardInput } from "../../packages/contracts/src/index.ts";

export const FAULT_TENANT: Uint8Array = new Uint8Array(32).fill(9);
/** Short, so that what a killed process held is soon another's. */
export const FAULT_LEASE_MS = 250;

const KEY_SPACE = 2 ** 31;

/** The arguments of a process of the run, for any store. */
export interface FaultWorkerConfig {
  readonly logPath: string;
  /** Differs between all processes that there have been: it is also the worker's id. */
  readonly incarnation: number;
  readonly sessions: number;
  readonly roots: number;
}

/**
 * What a process wrote down when it had the answer. Run, shard and fence; then a place in key space, -1 for none; then
 * the incarnation.
 */
export type FaultLine =
  | readonly ["Acquired", number, string, number, number, number]
  | readonly ["Checkpointed", number, string, number, number, number]
  | readonly ["Completed", number, string, number, number, number]
  | readonly ["Split", number, string, number]
  | readonly ["Created", number]
  | readonly ["Deleted", number]
  | readonly ["Refused", string, string];

export function key(place: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(place);
  return bytes;
}

export function placeOf(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
}

export function rootWidth(count: number): number {
  return Math.floor(KEY_SPACE / count);
}

/** Shards that tile the key space. */
export function makeRoots(count: number): InitialShardInput[] {
  const width = rootWidth(count);
  return Array.from({ length: count }, (_, index) => ({
    shard: ShardId.fromRaw(BigInt(index)),
    spec: ShardSpec.withRangeAndMetadata({
      start: key(index * width),
      end: key((index + 1) * width),
      metadata: Buffer.from(`root ${index}`),
    }),
    cursor: Cursor.initial(),
  }));
}

/** Every line of every process, each process's in its order. A line that its process did not live to finish is left out. */
export function readFaultLogs(folder: string): FaultLine[] {
  return readdirSync(folder).flatMap((name) => {
    const lines = readFileSync(join(folder, name), "utf8").split("\n");
    return lines.slice(0, -1).map((line) => JSON.parse(line) as FaultLine);
  });
}

/** How often each answer was written down, by its first word; refusals by what was refused, and why. */
export function countLines(lines: readonly FaultLine[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const line of lines) {
    const name = line[0] === "Refused" ? `Refused ${line[1]}: ${line[2]}` : line[0];
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** What did not happen as often as it has to. A run with too little of something would have been a quiet afternoon. */
export function lacking(
  counts: Readonly<Record<string, number>>,
  least: Readonly<Record<string, number>>,
): readonly string[] {
  return Object.entries(least)
    .filter(([what, count]) => (counts[what] ?? 0) < count)
    .map(([what, count]) => `${what}: ${counts[what] ?? 0} of ${count}`);
}
