import { WorkerId } from "@gossip/contracts";
import type { ParkedDetail } from "@gossip/coordination";
import { countOf } from "../../output/number-words.ts";
import { printableText } from "../../output/printable.ts";
import { formatTime, timeJson } from "../../output/time-text.ts";
import type { ShowKey } from "./key-shower.ts";

/** Why a shard is parked: the item, its error, the attempts, the time and the worker. */
export function parkedText({ item, error, attempts, at, worker, workerName }: ParkedDetail, show: ShowKey): string {
  const what = item === undefined ? "" : `${show(item)}: `;
  const by = printableText(workerName ?? WorkerId.format(worker));
  return `${what}${printableText(error)} (${countOf(attempts, "attempt")}, ${formatTime(at)}, ${by})`;
}

/** The same for programs. */
export function parkedJson({ item, at, ...rest }: ParkedDetail, show: ShowKey): object {
  return { item: item === undefined ? undefined : show(item), at: timeJson(at), ...rest };
}
