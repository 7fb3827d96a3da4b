import { ADVICE, type Advice } from "./advice.ts";
import { ERROR_CODECS } from "./error-codecs.ts";
import { ERROR_ROUTES, OPERATIONS, type ErrorKind, type Operation, type Route } from "./error-routes.ts";
import { REDACTED, type FieldCodec } from "./field-codec.ts";

const KINDS = Object.keys(ERROR_ROUTES) as readonly ErrorKind[];

/** When each kind is the answer. */
const WHEN: Readonly<Record<ErrorKind, string>> = {
  ShardNotFound: "The store has no such shard: an index is wrong, or its run was deleted meanwhile.",
  TenantMismatch: "It belongs to another tenant. Checked first, so that the caller learns nothing else about it.",
  StaleFence:
    "The shard changed hands since the lease was taken, or the lease was given back (then both numbers are equal).",
  LeaseExpired: "The deadline has come. The shard may be another worker's by now.",
  ShardTerminal: "The shard is Done, Split or Parked.",
  OpIdConflict: "The op id is in the log with another payload.",
  CursorRegression: "The new key is below the one recorded.",
  CursorOutOfBounds: "The key is outside the shard's range.",
  CursorKeyTooLarge: "The key is above `MAX_KEY_SIZE`.",
  CursorTokenTooLarge: "The token is above `MAX_TOKEN_SIZE`.",
  SplitInvalid: "The plan does not tile the shard, or a limit is in the way; `reason` says which rule broke.",
  CheckpointMissingKey: "The cursor has no key.",
  AlreadyLeased: "A lease is live, even if it is the caller's own under another op id.",
  ResourceExhausted: "The slab or an index is full. Nothing was changed.",
  NoneAvailable: "No shard of the run could be claimed.",
  Throttled: "The worker claimed a moment ago, and the coordinator has a cooldown.",
  SessionClosed: "The session was completed, parked, released or split away, or lost its lease.",
  RunNotFound: "The tenant has no such run, or it was deleted.",
  RunTerminal: "The run is Done, Failed or Cancelled. Work under a lease already held is still taken.",
  RunUnsettled: "Shards are Active, or Parked and not accepted as such.",
  WrongStatus: "The run is not where the operation starts from.",
  NotParked: "The shard is in another state, perhaps because another operator unparked it.",
  RunAlreadyExists: "The id is taken, or was taken by a run that has been deleted.",
  InvalidConfig: "The run's configuration is not valid.",
  ConfigMismatch: "The run exists with another configuration.",
  ManifestInvalid: "The list of first shards is not valid; `reason` says which rule broke.",
  ShardLimitExceeded: "A quota of shards, the tenant's or the coordinator's, would be overdrawn.",
  RegisterShardsFailed: "Creating the run went well and registering its shards did not; no run was left behind.",
  GetRunFailed: "The run could not be read.",
  BackendError: "The store failed: `Transient` may pass, `Corruption` will not.",
};

const ADVICE_TEXT: Readonly<Record<Advice, string>> = {
  WaitUntil: "Ask again at the time that `waitUntil(error)` gives.",
  Reacquire: "The lease is lost: drop all local work on the shard and claim again.",
  RetrySameOpId:
    "Back off, then repeat the call with the same op id and the same payload. It may have been done; it is not done twice.",
  Stop: "There is nothing left to do here.",
  FixCaller: "The call is wrong, and repeating it gives the same answer.",
  Report: "No caller can repair it: an operator has to look.",
};

/** The page docs/reference/errors.md, from the tables. */
export function errorsPage(): string {
  return `${[
    "# Errors",
    "How each operation can fail, and what to do about it. This page is printed from the tables of `@gossip/coordination-errors`; a test fails when it is stale. To rewrite it:",
    "```sh\nGOSSIP_WRITE_DOCS=1 npx vitest run --project coordination-errors errors-page\n```",
    "Every operation returns a `Result` whose error is a union on `kind`. A new kind in an operation's union is a breaking change of that operation; `adviceFor` is the view that stays.",
    "## What to do",
    table(["advice", "means", "kinds"], (Object.keys(ADVICE_TEXT) as readonly Advice[]).map(adviceRow)),
    "Kinds in more than one row depend on what they carry: `NoneAvailable` on whether a deadline is known, `BackendError` on the class of its reason, `RegisterShardsFailed` and `GetRunFailed` on the error that they wrap.",
    "## Who can fail how",
    "`●` can happen; `+` can happen, and is an addition to the design documents. `split` is both `splitReplace` and `splitResidual`; `getRun` is every query of one run; `session` is what a worker session answers by itself.",
    matrix(OPERATIONS.slice(0, OPERATIONS.indexOf("createRun"))),
    matrix(OPERATIONS.slice(OPERATIONS.indexOf("createRun"))),
    "## Kinds",
    "*Hidden* fields are held in a wrapper that every rendering shows as `<redacted>` (a tenant by its first four bytes). `Redacted.reveal` reads them in the process that made the error; they do not travel.",
    table(["kind", "when", "carries", "operations", "advice"], KINDS.map(kindRow)),
  ].join("\n\n")}\n`;
}

function adviceRow(advice: Advice): readonly string[] {
  const kinds = KINDS.filter((kind) => adviceOf(kind).includes(advice));
  return [`\`${advice}\``, ADVICE_TEXT[advice], kinds.map(code).join(" ")];
}

function kindRow(kind: ErrorKind): readonly string[] {
  const operations = OPERATIONS.filter((operation) => ERROR_ROUTES[kind][operation] !== "no");
  const fields = Object.entries<FieldCodec<unknown>>(ERROR_CODECS[kind]).map(([name, codec]) =>
    // Only a codec that hides something answers so for nothing.
    codec.encode(undefined) === REDACTED ? `${code(name)} *(hidden)*` : code(name),
  );
  return [code(kind), WHEN[kind], fields.join(", "), operations.join(" "), adviceOf(kind).map(code).join(" or ")];
}

function matrix(operations: readonly Operation[]): string {
  const marks: Readonly<Record<Route, string>> = { yes: "●", addition: "+", no: "" };
  const rows = KINDS.filter((kind) => operations.some((operation) => ERROR_ROUTES[kind][operation] !== "no"));
  return table(
    ["", ...operations],
    rows.map((kind) => [code(kind), ...operations.map((operation) => marks[ERROR_ROUTES[kind][operation]])]),
  );
}

function adviceOf(kind: ErrorKind): readonly Advice[] {
  const advice = ADVICE[kind];
  return typeof advice === "string" ? [advice] : advice.cases;
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return [header, header.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function code(text: string): string {
  return `\`${text}\``;
}
