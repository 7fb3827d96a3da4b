// The kinds are the contract: a caller matches on them, so each operation's union is pinned.
import { expectTypeOf } from "vitest";
import type { CoreErrorKind, GrantError, PrepareError, SeedError } from "./core-error.ts";
import type { Epoch } from "./epoch.ts";
import type { Timestamp } from "./timestamp.ts";

expectTypeOf<CoreErrorKind>().toEqualTypeOf<
  | "NotLeader"
  | "WindowExhausted"
  | "InvalidCount"
  | "PhysicalMsOutOfRange"
  | "LogicalOutOfRange"
  | "LogicalRangeOutOfRange"
  | "InvalidLeadershipWindow"
  | "WindowExtensionOverflow"
>();
expectTypeOf<GrantError["kind"]>().toEqualTypeOf<
  "InvalidCount" | "NotLeader" | "PhysicalMsOutOfRange" | "WindowExhausted"
>();
expectTypeOf<PrepareError["kind"]>().toEqualTypeOf<"NotLeader" | "WindowExtensionOverflow" | "PhysicalMsOutOfRange">();
expectTypeOf<SeedError["kind"]>().toEqualTypeOf<"PhysicalMsOutOfRange" | "InvalidLeadershipWindow">();

// @ts-expect-error a raw integer is not a timestamp: it has not been checked
export const raw: Timestamp = 5n;
// @ts-expect-error a timestamp is no epoch, although both are integers
export const mixed: Epoch = 5n as Timestamp;
