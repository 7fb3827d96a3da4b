import type { ConsoleEvent } from "../data/api-types.ts";
import { plural } from "./numbers.ts";

const TEXTS: Readonly<Record<string, string>> = {
  RunCreated: "Run created",
  RunActivated: "Run started",
  RunDone: "Run done",
  RunFailed: "Run failed",
  RunCancelled: "Run canceled",
  RunDeleted: "Run deleted",
  ShardAcquired: "Shard claimed",
  ShardTakenOver: "Shard taken over",
  ShardLost: "Lease lost",
  ShardCompleted: "Shard done",
  ShardParked: "Shard parked",
  ShardUnparked: "Shard unparked",
  ShardReleased: "Shard given back",
  ShardSplit: "Shard split",
  ShardResidualCreated: "Rest of a shard given away",
  WriterRejected: "Late write refused",
  SettingsChanged: "Settings changed",
  FailuresRetried: "Failures retried",
};

/** The kinds that the Events page can be filtered by, with their names. */
export const EVENT_KINDS: readonly (readonly [kind: string, name: string])[] = Object.entries(TEXTS);

/** An event in words. A kind that this page does not know is shown as it is. */
export function eventText({ kind, reason, children }: ConsoleEvent): string {
  const parts = [TEXTS[kind] ?? kind];
  if (kind === "ShardSplit" && children !== undefined) parts.push(`into ${plural(children.length, "shard")}`);
  if (reason !== undefined) parts.push(`(${reason})`);
  return parts.join(" ");
}
