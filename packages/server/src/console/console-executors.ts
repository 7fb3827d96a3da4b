import { ACTION_EXECUTORS } from "./action-executors.ts";
import { HISTORY_EXECUTORS } from "./history-executors.ts";
import { RUN_EXECUTORS } from "./run-executors.ts";
import { SHARD_EXECUTORS } from "./shard-executors.ts";
import { STORE_EXECUTORS } from "./store-executors.ts";

/** How the calls of the web console are executed. */
export const CONSOLE_EXECUTORS = {
  ...RUN_EXECUTORS,
  ...SHARD_EXECUTORS,
  ...HISTORY_EXECUTORS,
  ...ACTION_EXECUTORS,
  ...STORE_EXECUTORS,
};
