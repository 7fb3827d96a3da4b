// The frame of a chaos run: blows in random order until time is up, then the verdict.
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

/** Short unless told otherwise: minutes find more, and nobody waits for them in `npm test`. */
export const CHAOS_SECONDS = Number(process.env["GOSSIP_CHAOS_SECONDS"] ?? "6");

const SEED = Number(process.env["GOSSIP_CHAOS_SEED"] ?? String(Date.now() % 1_000_000));

/** Every blow at least once, then more in random order as long as there is time. */
export async function runChaos(
  name: string,
  fleet: ChaosFleet,
  blows: Readonly<Record<string, Blow>>,
): Promise<ChaosReport> {
  const startedAtMs = performance.now();
  const random = generator(SEED);
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
      `(GOSSIP_CHAOS_SEED=${SEED})`,
  );
}

/** Mulberry32: small, and the same everywhere. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
