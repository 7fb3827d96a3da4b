// Does the number of items matter? The same work in more and more, smaller and smaller items below one prefix.
import { figure } from "@gossip/tools/bench";
import { measureCompletion, TIMES, type Measured } from "./completion-figure.fixture.ts";

const WORKERS = 64;
const TOTAL_MS = 16_000_000;
const MOST = 1.05;

figure("Completion time by number of items, one prefix", async ({ isSmoke }) => {
  const sizes = isSmoke ? [400] : [10_000, 100_000, 1_000_000, 10_000_000];
  const measured: Measured[] = [];
  for (const items of sizes)
    measured.push(
      await measureCompletion("one prefix", {
        workers: isSmoke ? 4 : WORKERS,
        items,
        meanMs: isSmoke ? 100 : TOTAL_MS / items,
      }),
    );
  return {
    note: `${WORKERS} workers, all items below one prefix in one planned shard, ${TOTAL_MS / 1000} s of work in total, ${TIMES.roundTripMs} ms per store call.`,
    columns: ["items", "over ideal", "splits", "store calls a second"],
    rows: measured.map(({ overIdeal, splits, storeCallsPerSecond }, index) => [
      sizes[index]!.toLocaleString("en"),
      overIdeal.toFixed(3),
      splits,
      Math.round(storeCallsPerSecond),
    ]),
    chart: {
      kind: "lines",
      xLabel: "items (log)",
      yLabel: "completion time over ideal",
      isLogX: true,
      x: sizes,
      series: [{ name: "gossip", values: measured.map(({ overIdeal }) => overIdeal) }],
      limit: { value: MOST, label: "promised" },
    },
    verdicts: measured.map(({ overIdeal }, index) => ({
      sentence: `${sizes[index]!.toLocaleString("en")} items: ${overIdeal.toFixed(3)}x of the ideal, promised at most ${MOST}x`,
      isMissed: overIdeal > MOST,
    })),
  };
});
