// Where the marks of an axis are.

const TIME_STEPS_MS = [
  1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000, 1_800_000, 3_600_000,
  7_200_000, 10_800_000, 21_600_000, 43_200_000, 86_400_000, 172_800_000, 604_800_000,
];

export interface TimeMarks {
  readonly stepMs: number;
  readonly atMs: readonly number[];
}

/** Round times in `[fromMs, toMs]`, at most `most` of them. `offsetMs` is what local time is ahead of UTC. */
export function timeMarks(
  range: { readonly fromMs: number; readonly toMs: number },
  most: number,
  offsetMs = 0,
): TimeMarks {
  const { fromMs, toMs } = range;
  const stepMs = TIME_STEPS_MS.find((step) => (toMs - fromMs) / step <= most) ?? TIME_STEPS_MS.at(-1)!;
  const atMs: number[] = [];
  const first = Math.ceil((fromMs + offsetMs) / stepMs) * stepMs - offsetMs;
  for (let at = first; at <= toMs && atMs.length < most + 1; at += stepMs) atMs.push(at);
  return { stepMs, atMs };
}

/** The smallest of 1, 2, 5, 10, 20, … that is at least `value`. */
export function roundUp(value: number): number {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const scaled = value / power;
  return (scaled <= 1 ? 1 : scaled <= 2 ? 2 : scaled <= 5 ? 5 : 10) * power;
}
