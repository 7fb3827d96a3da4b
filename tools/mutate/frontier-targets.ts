// The edits, by what they break. At least eight for every arithmetic function and every decoder.
import { ADVICE_TARGETS } from "./targets/advice.ts";
import { ARITHMETIC_TARGETS } from "./targets/arithmetic.ts";
import { HINT_TARGETS } from "./targets/hints.ts";
import { TUPLE_TARGETS } from "./targets/tuples.ts";
import type { Target } from "./mutant.ts";

export const FRONTIER_TARGETS: readonly Target[] = [
  ...ARITHMETIC_TARGETS,
  ...ADVICE_TARGETS,
  ...HINT_TARGETS,
  ...TUPLE_TARGETS,
];
