// Compares the results that processes received with what is stored.
import { RunId, ShardId, TenantId } from "../../packages/contracts/src/index.ts";
import type { CoordinationStore } from "../../packages/coordination/src/index.ts";
import { unwrap } from "../../packages/stdx/src/index.ts";
import { countLines, FAULT_TENANT, placeOf, type FaultLine } from "./fault-log.ts";

/** What a fault run did, counted, and what it broke. */
export interface FaultVerdict {
  readonly counts: Readonly<Record<string, number>>;
  /** Sentences. Empty where every promise was kept. */
  readonly broken: readonly string[];
}

interface ShardHistory {
  readonly run: number;
  readonly shard: string;
  /** By fence: who said to hold it, and how far it said to have come. */
  readonly fences: Map<number, { readonly holders: Set<number>; acquiredAt: number | undefined; greatest: number }>;
  completions: number;
}

/**
 * Compares the results that processes received with what is stored:
 *
 * - no acknowledged checkpoint is lost: the stored cursor is at least as far as any that was acknowledged;
 * - no cursor went back: what a later holder was given is at least as far as what an earlier one received, and within
 *   a fence each acknowledged place is above the one before;
 * - no shard was completed twice;
 * - every fence stream is single: one process spoke under each (shard, fence).
 */
export async function judge(store: CoordinationStore, lines: readonly FaultLine[]): Promise<FaultVerdict> {
  const broken: string[] = [];
  const histories = new Map<string, ShardHistory>();
  for (const line of lines) {
    if (line[0] === "Acquired" || line[0] === "Checkpointed" || line[0] === "Completed") note(histories, line, broken);
  }
  for (const history of histories.values())
    broken.push(...judgeStream(history), ...(await judgeStored(store, history)));
  return { counts: countLines(lines), broken };
}

function note(
  histories: Map<string, ShardHistory>,
  line: Extract<FaultLine, readonly [string, number, string, number, number, number]>,
  broken: string[],
): void {
  const [what, run, shard, fence, place, holder] = line;
  const name = `${run} ${shard}`;
  const history = histories.get(name) ?? { run, shard, fences: new Map(), completions: 0 };
  histories.set(name, history);
  const stream = history.fences.get(fence) ?? { holders: new Set(), acquiredAt: undefined, greatest: -1 };
  history.fences.set(fence, stream);
  stream.holders.add(holder);
  if (what === "Acquired") stream.acquiredAt = place;
  if (what === "Completed") history.completions++;
  // Lines of one process are in its own order, so within a fence places only grow.
  if (what !== "Acquired" && place < stream.greatest)
    broken.push(`shard ${name} went back from ${stream.greatest} to ${place} under fence ${fence}`);
  stream.greatest = Math.max(stream.greatest, place);
}

function judgeStream({ run, shard, fences, completions }: ShardHistory): string[] {
  const broken: string[] = [];
  if (completions > 1) broken.push(`shard ${run} ${shard} was completed ${completions} times`);
  let greatest = -1;
  for (const [fence, stream] of [...fences].toSorted(([a], [b]) => a - b)) {
    if (stream.holders.size > 1)
      broken.push(`shard ${run} ${shard} had ${stream.holders.size} holders under fence ${fence}`);
    if (stream.acquiredAt !== undefined && stream.acquiredAt < greatest) {
      broken.push(
        `shard ${run} ${shard} was given out at ${stream.acquiredAt} under fence ${fence} after ${greatest} was acknowledged`,
      );
    }
    greatest = Math.max(greatest, stream.greatest);
  }
  return broken;
}

async function judgeStored(
  store: CoordinationStore,
  { run, shard, fences, completions }: ShardHistory,
): Promise<string[]> {
  const tenant = TenantId.fromBytes(FAULT_TENANT);
  const id = unwrap(ShardId.parse(shard));
  const read = unwrap(await store.readShard(tenant, { run: RunId.fromRaw(BigInt(run)), shard: id }));
  const record = read.shard?.record;
  if (record === undefined) return [`shard ${run} ${shard} is gone`];
  const acknowledged = Math.max(...[...fences.values()].map(({ greatest }) => greatest));
  const stored = record.cursor.lastKey === undefined ? -1 : placeOf(record.cursor.lastKey);
  const broken: string[] = [];
  if (stored < acknowledged) broken.push(`shard ${run} ${shard} is at ${stored}, and ${acknowledged} was acknowledged`);
  if (completions > 0 && record.status !== "Done")
    broken.push(`shard ${run} ${shard} was completed and is ${record.status}`);
  if (Number(record.fenceEpoch) < Math.max(...fences.keys()))
    broken.push(`shard ${run} ${shard} has a fence below one that was given out`);
  return broken;
}
