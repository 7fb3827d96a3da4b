/**
 * Settings for connections that the store opens itself. Every statement of a store finds its rows through an index, but a plan made while
 * the tables were empty would scan them until the next statistics. The plan is always the same, so the server plans once per
 * connection: planning a small write takes as long as the write.
 */
export const TUNE_SESSION =
  "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off; SET plan_cache_mode = force_generic_plan";
