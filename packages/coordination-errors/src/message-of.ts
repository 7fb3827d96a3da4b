import { ERROR_CODECS } from "./error-codecs.ts";
import type { ErrorFields } from "./error-fields.ts";
import { isErrorKind } from "./error-kind.ts";
import type { ErrorKind, Operation } from "./error-routes.ts";
import { isObject, type FieldCodec } from "./field-codec.ts";
import type { AnyCoordError } from "./operation-errors.ts";

/** The fields of a kind as people may see them. */
type Shown<K extends ErrorKind> = { readonly [F in keyof ErrorFields[K]]: string };

/** Builds a message. It gets texts, not values, so it cannot show what a codec redacts. */
type Sentence<K extends ErrorKind> = (shown: Shown<K>, operation: Operation | undefined) => string;

const SENTENCES = {
  ShardNotFound: ({ shard }) => `there is no shard ${shard}`,
  TenantMismatch: ({ expected }) => `what was asked for does not belong to tenant ${expected}`,
  StaleFence: ({ presented, current }) =>
    presented === current
      ? `the lease with fence ${presented} is no longer held by its owner`
      : `the lease has fence ${presented}, the shard is at ${current}`,
  LeaseExpired: ({ deadline, now }) => `the lease ran out at ${deadline}, and it is ${now}`,
  ShardTerminal: ({ shard, status }) => `shard ${shard} is ${status}`,
  OpIdConflict: ({ opId }) => `op id ${opId} was used before, for something else`,
  CursorRegression: ({ oldKey, newKey }) => `the cursor would go back, from a key of ${oldKey} to one of ${newKey}`,
  CursorOutOfBounds: ({ lastKey, specStart, specEnd }) =>
    `the cursor's key of ${lastKey} lies outside the shard, which starts at ${specStart} and ends at ${specEnd}`,
  CursorKeyTooLarge: ({ size, max }) => `the cursor's key of ${size} is above the limit of ${max}`,
  CursorTokenTooLarge: ({ size, max }) => `the cursor's token of ${size} is above the limit of ${max}`,
  SplitInvalid: ({ reason }) => `the split was refused: ${reason}`,
  CheckpointMissingKey: (_, operation) => missingKey(operation),

  AlreadyLeased: ({ currentOwner, leaseDeadline }) => `the shard is leased to ${currentOwner} until ${leaseDeadline}`,
  ResourceExhausted: ({ resource, slab }) => `out of ${resource}${slab === "none" ? "" : `: ${slab}`}`,
  NoneAvailable: ({ earliestDeadline }) =>
    earliestDeadline === "none"
      ? "the run has no shard to claim, and none is leased"
      : `every shard is leased, the first lease until ${earliestDeadline}`,
  Throttled: ({ retryAfter }) => `this worker may claim again at ${retryAfter}`,
  SessionClosed: ({ shard }) => `the session on shard ${shard} has ended`,

  RunNotFound: () => "there is no such run",
  RunTerminal: ({ status }) => `the run has ended: it is ${status}`,
  RunUnsettled: ({ active, parked }) => `the run still has ${active} active and ${parked} parked shards`,
  WrongStatus: ({ status, target }) => wrongStatus(status, target),
  NotParked: ({ status }) => `the shard is ${status}, and only a parked one can be unparked`,
  RunAlreadyExists: ({ run }) => `run ${run} exists already, or did before it was deleted`,
  InvalidConfig: ({ reason }) => `the run's configuration was refused: ${reason}`,
  ConfigMismatch: ({ run }) => `run ${run} exists already with another configuration`,
  ManifestInvalid: ({ reason }) => `the manifest was refused: ${reason}`,
  ShardLimitExceeded: ({ current, additional, max, scope }) =>
    `${additional} more shards on top of ${current} are above the ${scope} limit of ${max}`,
  RegisterShardsFailed: ({ reason }) => `the run's shards could not be registered: ${reason}`,
  GetRunFailed: ({ reason }) => `the run could not be read back: ${reason}`,

  BackendError: ({ reason }) => reason,
} as const satisfies { readonly [K in ErrorKind]: Sentence<K> };

/**
 * A sentence for people: what happened, with everything that may be shown.
 *
 * It also takes an error that lost its prototype (a clone, a spread). Name the operation where you know it:
 * `CheckpointMissingKey` then speaks of that one.
 */
export function messageOf(error: AnyCoordError, operation?: Operation): string {
  const given: unknown = error;
  if (!isObject(given) || !isErrorKind(given["kind"])) return "not an error of this package";

  const kind = given["kind"];
  const shown: Record<string, string> = {};
  for (const [name, codec] of Object.entries<FieldCodec<unknown>>(ERROR_CODECS[kind]))
    shown[name] = codec.show(given[name]);
  return (SENTENCES[kind] as unknown as (shown: unknown, operation: Operation | undefined) => string)(shown, operation);
}

function missingKey(operation: Operation | undefined): string {
  if (operation === "complete") return "complete needs a cursor with a key, or RANGE_EXHAUSTED";
  if (operation === "checkpoint") return "checkpoint needs a cursor with a key";
  return "the cursor has no key, and says nothing of what was done";
}

function wrongStatus(status: string, target: string): string {
  switch (target) {
    case "none":
      return `the run is ${status}, and only one that has ended can be deleted`;
    case "Active":
      return `the run is ${status}, and takes shards only while it is Initializing`;
    case "Failed":
      return `the run is ${status} and cannot become Failed; cancel a run that is still Initializing`;
    default:
      return `the run is ${status} and cannot become ${target}`;
  }
}
