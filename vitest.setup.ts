import fc from "fast-check";

// FC_SEED and FC_PATH replay a counterexample that a failing property printed.
const { FC_SEED: seed, FC_PATH: path, FC_NUM_RUNS: numRuns } = process.env;

fc.configureGlobal({
  ...(seed === undefined ? {} : { seed: Number(seed) }),
  ...(path === undefined ? {} : { path, endOnFailure: true }),
  ...(numRuns === undefined ? {} : { numRuns: Number(numRuns) }),
});
