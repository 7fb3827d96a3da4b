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
 * The protocol: what each operation would do to the records.
 *
 * Every function takes what was read, a command and the time, and returns a transition or a refusal. None of them
 * waits, reads a clock, draws a random number or changes its input, so a rule can be tried a million times a second.
 * Every store runs these same functions.
 *
 * Throws `InvariantViolation` if a command is malformed. A record is not checked: its reader has done so.
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
