import { err, type Result } from "@gossip/stdx";
import type { ExitName } from "./exit-codes.ts";

/** Every kind of error, and how the command ends. `when` is for the reference page. */
export const ERROR_KINDS = {
  BadCommandLine: { exit: "Usage", when: "an option, an argument or a key cannot be read" },
  InvalidCommand: { exit: "Usage", when: "the shell cannot read what `--exec` was given" },
  InvalidModule: { exit: "Usage", when: "`--module` cannot be loaded, or exports no function" },
  RunNotFound: { exit: "NotFound", when: "the store has no such run, or several that could be meant" },
  ShardNotFound: { exit: "NotFound", when: "the run has no such shard" },
  OtherSettings: {
    exit: "Refused",
    when: "a run of that name exists, with another source, command, module or `--out`",
  },
  OutputExists: {
    exit: "Refused",
    when: "the file of `--out` exists, and was not written by a run with these settings",
  },
  RunEnded: { exit: "Refused", when: "the run was canceled or has failed, or has ended already" },
  ShardHeld: { exit: "Refused", when: "a worker holds the shard" },
  NotAllowed: { exit: "Refused", when: "the state of the run or the shard does not allow it" },
  TooManyFailures: { exit: "ItemsFailed", when: "more items failed than `--max-failures` allows" },
  SourceMissing: { exit: "SourceFailed", when: "the folder, file or table of the source does not exist" },
  SourceUnreadable: { exit: "SourceFailed", when: "the source exists and cannot be read" },
  SourceInvalid: { exit: "SourceFailed", when: "it is not of the kind that the source needs" },
  StoreNotWritable: { exit: "StoreFailed", when: "the folder, or the database, may not be written to" },
  StoreFull: { exit: "StoreFailed", when: "the disk of the store is full" },
  StoreNewer: { exit: "StoreFailed", when: "a later version of this program made the store" },
  StoreOlder: { exit: "StoreFailed", when: "the tables are of an older version: `gossip store migrate` updates them" },
  NotAStore: { exit: "StoreFailed", when: "the folder, schema or prefix holds something else" },
  StoreDamaged: { exit: "StoreFailed", when: "the store contradicts itself, or was cut short" },
  StoreUnreachable: { exit: "StoreFailed", when: "no server answers" },
  StoreAccessDenied: { exit: "StoreFailed", when: "the server refuses the login" },
  StoreFailed: { exit: "StoreFailed", when: "the store failed in another way" },
  ClockSkewed: {
    exit: "Refused",
    when: "this machine's clock differs from that of the store's server by more than the lease, and there is no `--tso`",
  },
  ClockUnreachable: { exit: "StoreFailed", when: "the timestamp oracle of `--tso` gives no time" },
  OutputFailed: {
    exit: "OutputFailed",
    when: "the file of `--out`, the folder of its parts, or what is printed, cannot be written",
  },
} as const satisfies Readonly<Record<string, { readonly exit: ExitName; readonly when: string }>>;

export type CliErrorKind = keyof typeof ERROR_KINDS;

/** One sentence: what is wrong, and what to do next. */
export interface CliError {
  readonly kind: CliErrorKind;
  readonly message: string;
  /** A server that does not respond, which may pass by itself: the system's name for it, such as `ECONNREFUSED`. */
  readonly outage?: string;
  /** What does not respond, if it is not the store. */
  readonly server?: string;
}

export function fail(kind: CliErrorKind, message: string): Result<never, CliError> {
  return err({ kind, message });
}
