import type { Command } from "commander";
import { addObserveOptions } from "../logging/log-options.ts";
import { addLimitOptions } from "./set.ts";

/** Add the options that say how to work, which may differ from start to start. */
export function addWorkOptions(command: Command): Command {
  return addLimitOptions(addObserveOptions(command))
    .option("--workers <count>", "items at a time in this process (default: one for each processor)")
    .option("--overwrite", "replace a file of --out that another run wrote")
    .option("--retries <count>", "how often an item is tried again", "2")
    .option("--retry-delay <seconds>", "the pause before the first retry of an item", "0.1")
    .option("--retry-factor <factor>", "how many times longer each further pause is", "2")
    .option("--retry-max-delay <seconds>", "the longest pause before a retry", "10")
    .option("--max-failures <limit>", "stop when more items failed: a number, or a share such as 5%")
    .option("--timeout <seconds>", "fail an item that takes longer")
    .option("--lease <seconds>", "how long a killed worker's shards are waited for", "10")
    .option("--grace <seconds>", "how long items may go on after Ctrl-C", "8")
    .option("--patience <seconds>", "how long to wait for a store, source or service that is down", "600")
    .option("--shards <count>", "how many parts to begin with (default: 8 for each worker, at least 32)")
    .option(
      "--part-size <bytes>",
      "the most bytes of a part, before compression, if --out is a folder",
      String(2 ** 28),
    )
    .option("--max-output <bytes>", "how much is kept of what an item writes to a stream", String(2 ** 20));
}
