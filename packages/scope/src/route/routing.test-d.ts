// What a route can answer is in its type: a caller that handles a verdict which cannot come, or
// forgets one that can, should get a compiler error.
import { matchError, type Result } from "@gossip/stdx";
import { expectTypeOf } from "vitest";
import type {
  AbortError,
  AdoptError,
  Bytes,
  Change,
  CommitError,
  DrainError,
  MigrationErrorKind,
  OwnershipError,
  OwnershipNode,
  OwnershipSnapshot,
  OwnershipTable,
  Refusal,
  ReloadError,
  Routing,
  SettleError,
  StartError,
} from "../index.ts";

declare const table: OwnershipTable;
declare const snapshot: OwnershipSnapshot;
declare const key: Uint8Array;

expectTypeOf(table.route(key, "a").kind).toEqualTypeOf<"Owned" | "Misdirected" | "Unknown">();
expectTypeOf(table.routeWithFallbackState(key, "a", () => true).kind).toEqualTypeOf<
  "Owned" | "Misdirected" | "Unknown" | "Unavailable"
>();
expectTypeOf(snapshot.route(key, "a").kind).toEqualTypeOf<"Owned" | "Misdirected" | "Unknown" | "Quiesced">();
expectTypeOf(snapshot.routeWithFallbackState(key, "a", () => true)).toEqualTypeOf<Routing>();
expectTypeOf<OwnershipNode["route"]>().parameter(0).toEqualTypeOf<Bytes>();
expectTypeOf<Refusal["kind"]>().toEqualTypeOf<"Misdirected" | "Quiesced" | "Unavailable" | "Unknown">();

// @ts-expect-error a key beside a node's id is bytes: two strings would be swapped one day
table.route("app:billing:1", "a");

// The seed's kinds of each union, and ours.
expectTypeOf<OwnershipError["kind"]>().toEqualTypeOf<"DuplicatePrefix" | "OverlappingPrefix">();
type Decided =
  | "UndeclaredScope"
  | "NotOwner"
  | "SameNode"
  | "AlreadyMigrating"
  | "MigrationIdConflict"
  | "NotDrained"
  | "AlreadyCommitted"
  | "Aborted";
type Added = "UnknownMigration" | "AwaitingTarget" | "NotTarget" | "InnerScopesDiffer" | "Superseded";
expectTypeOf<MigrationErrorKind>().toEqualTypeOf<Decided | Added>();

type Pending = "ChangePending";
expectTypeOf<StartError["kind"]>().toEqualTypeOf<Exclude<Decided, "NotDrained"> | Pending>();
expectTypeOf<DrainError["kind"]>().toEqualTypeOf<
  "UnknownMigration" | "AlreadyCommitted" | "Aborted" | "NotOwner" | "NotDrained" | Pending
>();
expectTypeOf<CommitError["kind"]>().toEqualTypeOf<
  | "NotTarget"
  | "MigrationIdConflict"
  | "Aborted"
  | "AlreadyMigrating"
  | "Superseded"
  | "UndeclaredScope"
  | "NotOwner"
  | "InnerScopesDiffer"
  | Pending
>();
expectTypeOf<AbortError["kind"]>().toEqualTypeOf<
  | "MigrationIdConflict"
  | "AlreadyCommitted"
  | "UnknownMigration"
  | "AwaitingTarget"
  | "NotTarget"
  | "AlreadyMigrating"
  | "Superseded"
  | Pending
>();
expectTypeOf<SettleError["kind"]>().toEqualTypeOf<
  | "MigrationIdConflict"
  | "AlreadyCommitted"
  | "Aborted"
  | "UnknownMigration"
  | "NotDrained"
  | "AlreadyMigrating"
  | "Superseded"
  | Pending
>();
expectTypeOf<ReloadError["kind"]>().toEqualTypeOf<"AlreadyMigrating" | "OwnerChanged" | Pending>();
expectTypeOf<AdoptError["kind"]>().toEqualTypeOf<
  "StaleSnapshot" | "AlreadyMigrating" | "UnknownMigration" | "OwnerChanged" | Pending
>();

expectTypeOf<ReturnType<OwnershipNode["start"]>>().toEqualTypeOf<Result<Change, StartError>>();
declare const startError: StartError;
// @ts-expect-error SameNode has no handler
matchError(startError, {
  MigrationIdConflict: () => 0,
  AlreadyCommitted: () => 0,
  Aborted: () => 0,
  UndeclaredScope: () => 0,
  NotOwner: () => 0,
  AlreadyMigrating: () => 0,
  ChangePending: () => 0,
});
