// How much is done in a comparison with another system.
const isSmoke = process.argv.includes("--smoke");

export const JOBS = isSmoke ? 200 : 10_000;
export const WORKERS = 10;
/** How many a worker takes at a time, where a system can. */
export const BURST = 100;
/** The same for ours, where a trip to the server is dear. graphile-worker takes 500; pg-boss gains nothing by more than a hundred. */
export const MANY = 250;
export const SESSIONS = 64;
/** Progress writes of each session in one call of a form. */
export const STEPS = isSmoke ? 1 : 8;
