import type { BatchName } from "../table/operations.ts";
import type { ElementOf, ElementResult, ResponseOf } from "../table/wire-types.ts";

// `JSON.stringify` takes twice as long as these for checkpoints, which are most of what a service gets and sends. They
// write what it writes, for values that conform to the schema.

/** The elements of a batched call, in JSON. */
export function elementsText<Name extends BatchName>(name: Name, elements: readonly ElementOf<Name>[]): string {
  if (name !== "checkpoint") return JSON.stringify(elements);
  let text = "[";
  for (const element of elements as readonly ElementOf<"checkpoint">[])
    text += text === "[" ? checkpointText(element) : `,${checkpointText(element)}`;
  return `${text}]`;
}

/** The results of a batched call, in JSON. */
export function resultsText<Name extends BatchName>(name: Name, results: readonly ElementResult<Name>[]): string {
  if (name !== "checkpoint") return JSON.stringify(results);
  let text = "[";
  for (const result of results as readonly ElementResult<"checkpoint">[]) {
    const json = "ok" in result ? `{"ok":${checkpointedText(result.ok)}}` : JSON.stringify(result);
    text += text === "[" ? json : `,${json}`;
  }
  return `${text}]`;
}

/** Ids, tenants and numbers are digits: they need no escapes. */
function checkpointText({ lease, opId, cursor, renew, failures }: ElementOf<"checkpoint">): string {
  const { tenant, run, shard, worker, fence, deadline } = lease;
  const holder = `"tenant":"${tenant}","run":"${run}","shard":"${shard}","worker":"${worker}"`;
  const { key, key64, token, token64 } = cursor;
  const isKeyOnly = key !== undefined && key64 === undefined && token === undefined && token64 === undefined;
  const position = isKeyOnly ? `{"key":${JSON.stringify(key)}}` : JSON.stringify(cursor);
  let text = `{"lease":{${holder},"fence":"${fence}","deadline":"${deadline}"},"opId":"${opId}","cursor":${position}`;
  if (renew !== undefined) text += `,"renew":${renew}`;
  if (failures !== undefined) text += `,"failures":${JSON.stringify(failures)}`;
  return `${text}}`;
}

function checkpointedText({ outcome, deadline, capacity, signals }: ResponseOf<"checkpoint">): string {
  const { available, earliestDeadline, isStarved } = capacity;
  const earliest = earliestDeadline === undefined ? "" : `"earliestDeadline":"${earliestDeadline}",`;
  let text = `{"outcome":"${outcome}","capacity":{"available":${available},${earliest}"isStarved":${isStarved}}`;
  if (deadline !== undefined) text += `,"deadline":"${deadline}"`;
  if (signals !== undefined) text += `,"signals":${JSON.stringify(signals)}`;
  return `${text}}`;
}
