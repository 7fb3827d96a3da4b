import fc from "fast-check";
import { FIXED_SEED } from "./tools/explore/effort.ts";

// Properties play from one seed, so that a commit is either green or not; `npm run explore` draws new ones.
// FC_SEED and FC_PATH replay a counterexample that a failing property printed.
const { FC_SEED: seed, FC_PATH: path, FC_NUM_RUNS: numRuns } = process.env;

fc.configureGlobal({
  seed: seed === undefined ? FIXED_SEED : Number(seed),
  ...(path === undefined ? {} : { path, endOnFailure: true }),
  ...(numRuns === undefined ? {} : { numRuns: Number(numRuns) }),
});
