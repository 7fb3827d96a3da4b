import { acquire } from "./acquire.ts";
import { checkpoint } from "./checkpoint.ts";
import { complete } from "./complete.ts";
import { createRunWithShards } from "./create-run-with-shards.ts";
import { createRun } from "./create-run.ts";
import { deleteRun } from "./delete-run.ts";
import { cancelRun, completeRun, failRun } from "./end-run.ts";
import { park } from "./park.ts";
import { registerShards } from "./register-shards.ts";
import { release } from "./release.ts";
import { renew } from "./renew.ts";
import { splitReplace } from "./split-replace.ts";
import { findSpawnedResidual, splitResidual } from "./split-residual.ts";
import { unpark } from "./unpark.ts";

/**
 * The protocol: what each operation would do to the records it was given.
 *
 * Every function takes what was read, what is asked, and the time, and answers with a
 * transition or a refusal. None of them waits, reads a clock, draws a number or
 * changes what it was given, so a rule can be tried a million times in a second; and
 * whoever runs the protocol, over whatever store, runs these.
 *
 * A command that is none is an `InvariantViolation`. A record is taken as it is: whoever reads it has made sure of it.
 */
export const kernel = {
  acquire,
  renew,
  checkpoint,
  complete,
  park,
  release,
  splitReplace,
  splitResidual,
  findSpawnedResidual,
  unpark,
  createRun,
  registerShards,
  createRunWithShards,
  completeRun,
  failRun,
  cancelRun,
  deleteRun,
} as const;
