// The frame of a chaos run: blows in random order until time is up, then the verdict.
import { CHAOS_SEED, effort, seededRandom } from "@gossip/tools/effort";
import type { ChaosFleet, ChaosReport } from "./chaos-fleet.fixture.ts";

/** Something bad to do to a fleet, and to wait for it to get over. */
export type Blow = (fleet: ChaosFleet) => Promise<void>;

/**
 * Wrong clocks, and right again: issued time cannot go back, so a clock that stayed ahead would leave nothing to extend, and
 * nothing for a broken disk to spoil, for the rest of the run.
 */
export const CLOCK_BLOWS: Readonly<Record<string, Blow>> = {
  "set the leader's clock ahead": (fleet) => stepClock(fleet, 1500),
  "set the leader's clock back": (fleet) => stepClock(fleet, -3_600_000),
  "set the leader's clock a year ahead": (fleet) => stepClock(fleet, 31_536_000_000),
};

async function stepClock(fleet: ChaosFleet, stepClockMs: number): Promise<void> {
  const leader = await fleet.leader();
  leader.tamper({ stepClockMs });
  await fleet.progress(200);
  leader.tamper({ stepClockMs: -stepClockMs });
}

/** How long blows go on once each has been dealt: not at all in `npm test`, a minute in `npm run explore`. */
export const CHAOS_SECONDS = Number(process.env["GOSSIP_CHAOS_SECONDS"] ?? effort({ usual: 0, exploring: 60 }));

/** Every blow at least once, then more in random order as long as there is time. */
export async function runChaos(
  name: string,
  fleet: ChaosFleet,
  blows: Readonly<Record<string, Blow>>,
): Promise<ChaosReport> {
  const startedAtMs = performance.now();
  const random = seededRandom();
  const names = Object.keys(blows);
  const dealt: string[] = [];
  await fleet.leader();
  await fleet.progress(20);
  while (dealt.length < names.length || performance.now() - startedAtMs < CHAOS_SECONDS * 1000) {
    const left = names.filter((each) => !dealt.includes(each));
    const choices = left.length > 0 ? left : names;
    const blow = choices[Math.floor(random() * choices.length)]!;
    dealt.push(blow);
    await blows[blow]!(fleet);
    await fleet.leader();
    await fleet.progress(20);
  }
  const report = await fleet.finish();
  print(name, report, { seconds: (performance.now() - startedAtMs) / 1000, dealt });
  return report;
}

function print(
  name: string,
  report: ChaosReport,
  run: { readonly seconds: number; readonly dealt: readonly string[] },
): void {
  const { issued, calls, failedCalls, failovers, longestGapMs, violations } = report;
  const failed = Object.entries(failedCalls)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(", ");
  console.log(
    `chaos, ${name}: ${issued} timestamps issued in ${calls} calls (${failed || "none"} failed) over ${run.seconds.toFixed(1)} s, ` +
      `${run.dealt.length} blows, ${failovers} failovers, longest gap in service ${longestGapMs.toFixed(0)} ms, violations ${violations.length} ` +
      `(GOSSIP_CHAOS_SEED=${CHAOS_SEED})`,
  );
}
