import {
  messageOf,
  type AnyCoordError,
  type ErrorKind,
  type ErrorOfKind,
  type InfraError,
} from "@gossip/coordination-errors";
import type { CliError } from "../../output/cli-error.ts";
import { formatTime } from "../../output/time-text.ts";

/** The local clock always has a time, so this error comes from the oracle. */
export const CLOCK_GONE: CliError = {
  kind: "ClockUnreachable",
  message:
    "the timestamp oracle of --tso does not respond any more: start it, then run the same command again; nothing was lost.",
};

type Sentences = { readonly [K in ErrorKind]?: (error: ErrorOfKind<K>) => CliError };

/** Errors that users commonly meet. Others use the coordinator's own message. */
const SENTENCES: Sentences = {
  BackendError: ({ reason }) => infraSentence(reason),
  RunNotFound: () => ({ kind: "RunNotFound", message: "there is no such run: `gossip runs` lists what there is." }),
  ShardNotFound: () => ({
    kind: "ShardNotFound",
    message: "the run has no such shard: `gossip shards RUN` lists what there is.",
  }),
  AlreadyLeased: ({ leaseDeadline }) => ({
    kind: "ShardHeld",
    message: `a worker holds the shard until ${formatTime(leaseDeadline)}: stop that worker, or try again after that.`,
  }),
  RunTerminal: ({ status }) => ({
    kind: "RunEnded",
    message: `the run has ended (${status}), and its shards cannot be changed any more: the same command with --again starts another.`,
  }),
  WrongStatus: ({ status, target }) =>
    target === undefined
      ? {
          kind: "NotAllowed",
          message: `the run is ${status}, and only one that has ended can be deleted: \`gossip cancel RUN\` ends it.`,
        }
      : { kind: "RunEnded", message: `the run is ${status} and cannot become ${target}: nothing was changed.` },
  ShardTerminal: ({ status }) => ({
    kind: "NotAllowed",
    message: `the shard is ${status}, and only an active one can be changed: ${status === "Parked" ? "`gossip unpark RUN SHARD` brings it back" : "it needs nothing"}.`,
  }),
  NotParked: ({ status }) => ({
    kind: "NotAllowed",
    message: `the shard is ${status}, and only a parked one can be unparked: it needs nothing.`,
  }),
  ShardLimitExceeded: ({ max }) => ({
    kind: "NotAllowed",
    message: `the store would hold more than ${max} shards: give --shards a smaller number, or delete runs that have ended; \`gossip runs\` lists them.`,
  }),
};

/** The error to print for a coordinator error. */
export function coordSentence(error: AnyCoordError): CliError {
  const sentence = SENTENCES[error.kind] as ((error: AnyCoordError) => CliError) | undefined;
  return (
    sentence?.(error) ?? {
      kind: "NotAllowed",
      message: `${messageOf(error)}: nothing was changed; \`gossip show RUN SHARD\` shows the current state.`,
    }
  );
}

/** The error to print for a store failure. */
export function infraSentence({ kind, operation, message, code }: InfraError): CliError {
  if (operation.endsWith(".clock")) return CLOCK_GONE;
  if (kind === "Corruption")
    return {
      kind: "StoreDamaged",
      message: `the store contradicts itself (${message}): \`gossip fsck\` shows where, and --repair rebuilds what can be rebuilt.`,
    };
  if (code === "ENOSPC" || code === "EDQUOT" || code === "MDB_MAP_FULL")
    return {
      kind: "StoreFull",
      message: `the store is full (${message}): make room on its disk, then run the same command again; nothing was lost.`,
    };
  return {
    kind: "StoreFailed",
    message: `the store failed (${message}${code === undefined ? "" : `, ${code}`}): see that it is up, then run the same command again; nothing was lost.`,
  };
}
