// The kinds are the contract: callers match on them, and each has its status on the wire.
import { expectTypeOf } from "vitest";
import type { ClientError } from "../client/client-error.ts";
import type { DriverErrorKind } from "../driver/driver-error.ts";
import type { STATUS_OF, Status } from "../wire/status.ts";
import type { GetTsError } from "./get-ts-error.ts";
import type { WatchError } from "./leadership-watch.ts";

expectTypeOf<DriverErrorKind>().toEqualTypeOf<
  "NotLeader" | "Fenced" | "TransientDriver" | "PermanentDriver" | "AdvanceOutOfRange"
>();
expectTypeOf<GetTsError["kind"]>().toEqualTypeOf<
  | "NotLeader"
  | "InvalidCount"
  | "PhysicalMsOutOfRange"
  | "WindowExtensionOverflow"
  | "WindowExhausted"
  | "TimeRunaway"
  | "Overloaded"
  | "TransientDriver"
  | "PermanentDriver"
  | "AdvanceOutOfRange"
>();
expectTypeOf<WatchError["kind"]>().toEqualTypeOf<"Consensus" | "Core" | "WatchStreamClosed" | "WatchPanic">();
expectTypeOf<ClientError["kind"]>().toEqualTypeOf<
  | "InvalidCount"
  | "Rejected"
  | "NoLeader"
  | "TooManyRedirects"
  | "Transport"
  | "NoReachableEndpoints"
  | "Protocol"
  | "Overloaded"
  | "Closed"
>();

declare const withoutOne: Omit<typeof STATUS_OF, "TimeRunaway">;
// @ts-expect-error TimeRunaway has no status here, and every refusal needs one
export const incomplete: Record<GetTsError["kind"], Status> = withoutOne;
