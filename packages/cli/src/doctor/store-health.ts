import type { TenantId } from "@gossip/contracts";
import { countOf, formatDuration } from "../output/number-words.ts";
import { listRuns } from "../run/inspect/run-reference.ts";
import { coordSentence } from "../run/report/coord-sentence.ts";
import { measureSkew, skewText } from "../store-url/clock-skew.ts";
import type { OpenedStore } from "../store-url/opened-store.ts";
import { fine, note, problem, type CheckUp } from "./check-up.ts";

/** Clocks that differ by less than this are fine. */
const TOLERANCE_MS = 1000;

/** What a store says about the clock and about itself. */
export async function checkStore(opened: OpenedStore, tenant: TenantId, hasOracle: boolean): Promise<CheckUp[]> {
  const runs = await listRuns(opened, tenant);
  if (!runs.ok) return [problem("store", runs.error.message)];
  const checks = [fine("store", `${opened.description} is open, with ${countOf(runs.value.length, "run")}`)];
  let [latest, parked] = [0n, 0];
  for (const { run, lastTime, status } of runs.value) {
    if (lastTime > latest) latest = lastTime;
    if (status !== "Active") continue;
    const progress = await opened.coordinator.getRunProgress({ tenant, run });
    if (!progress.ok) return [...checks, problem("store", coordSentence(progress.error).message)];
    parked += progress.value.parked;
  }
  if (parked > 0)
    checks.push(
      note("shards", `${countOf(parked, "shard is", "shards are")} parked: \`gossip runs\` shows in which runs`),
    );
  return [...checks, await checkClock(opened, latest, hasOracle)];
}

/** Nothing in the store may be of a later time than it is here, or a clock is wrong. */
async function checkClock(opened: OpenedStore, latest: bigint, hasOracle: boolean): Promise<CheckUp> {
  const { clock, direct } = opened;
  if (direct === undefined) return fine("clock", "the service gives the time");
  const now = await clock.now();
  const aheadMs = Number(latest - now);
  if (aheadMs > TOLERANCE_MS) {
    return problem(
      "clock",
      `the store was written to at a time that is ${formatDuration(aheadMs)} ahead of this clock: set the clocks of all machines by NTP, or give all of them one time with --tso`,
    );
  }
  const apartMs = Math.abs(Number(now) - Date.now());
  const skew = hasOracle ? undefined : await measureSkew(opened);
  if (skew !== undefined) {
    const certainMs = Math.abs(skew.skewMs) - skew.uncertaintyMs;
    if (certainMs > TOLERANCE_MS)
      return problem("clock", `${skewText(skew)}: set it by NTP, or give all machines one time with --tso`);
    return fine("clock", `within ${formatDuration(Math.abs(skew.skewMs) + skew.uncertaintyMs)} of the store's server`);
  }
  if (hasOracle)
    return apartMs > TOLERANCE_MS
      ? note("clock", `the oracle's time and this machine's are ${formatDuration(apartMs)} apart; the oracle's counts`)
      : fine("clock", "the oracle gives the time");
  if (direct.isShared)
    return note(
      "clock",
      "this machine's; where several machines share the store, keep them in step by NTP, or give them one time with --tso",
    );
  return fine("clock", "not behind anything in the store");
}
