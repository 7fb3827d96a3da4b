/**
 * For connections of our own. Every statement of a store finds its rows through an index; a plan that was made while the
 * tables were empty would read all of them instead, until their statistics are next gathered. And since the plan is always
 * the same, it is made once a connection and not once a call, which for a small write takes as long as the write.
 */
export const TUNE_SESSION =
  "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off; SET plan_cache_mode = force_generic_plan";
