import type { RunSettings } from "@gossip/coordination";
import { timeJson } from "../../output/time-text.ts";

/** The settings that apply to all processes of a run, for programs. */
export function sharedJson({ paused, pausedSince, itemsPerSecond, concurrency }: RunSettings): object {
  return { paused, pausedSince: timeJson(pausedSince), itemsPerSecond, concurrency };
}
