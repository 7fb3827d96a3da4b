import { WorkerId } from "@gossip/contracts";
import type { ParkedDetail } from "@gossip/coordination";
import { showKey, type KeyCodec } from "@gossip/insight";
import { countOf } from "../../output/number-words.ts";
import { printableText } from "../../output/printable.ts";
import { formatTime, timeJson } from "../../output/time-text.ts";

/** Why a shard is parked: the item, its error, the attempts, the time and the worker. */
export function parkedText({ item, error, attempts, at, worker, workerName }: ParkedDetail, codec: KeyCodec): string {
  const what = item === undefined ? "" : `${showKey(item, codec)}: `;
  const by = printableText(workerName ?? WorkerId.format(worker));
  return `${what}${printableText(error)} (${countOf(attempts, "attempt")}, ${formatTime(at)}, ${by})`;
}

/** The same for programs. */
export function parkedJson({ item, at, ...rest }: ParkedDetail, codec: KeyCodec): object {
  return { item: item === undefined ? undefined : showKey(item, codec), at: timeJson(at), ...rest };
}
