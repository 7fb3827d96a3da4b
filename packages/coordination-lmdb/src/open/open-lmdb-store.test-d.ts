import type { CoordinationStore } from "@gossip/coordination";
import type { FsckSource } from "@gossip/coordination-fsck";
import type { Result } from "@gossip/stdx";
import { expectTypeOf } from "vitest";
import type { LmdbOpenError, LmdbStore } from "../index.ts";
import { openLmdbStore } from "../index.ts";

expectTypeOf<LmdbStore>().toExtend<CoordinationStore>();
expectTypeOf<LmdbStore>().toExtend<AsyncDisposable>();
expectTypeOf<LmdbStore["inspect"]>().returns.toEqualTypeOf<FsckSource>();
expectTypeOf(openLmdbStore).returns.resolves.toEqualTypeOf<Result<LmdbStore, LmdbOpenError>>();

expectTypeOf<LmdbOpenError["kind"]>().toEqualTypeOf<
  | "ReadOnlyFolder"
  | "DiskFull"
  | "NewerFormat"
  | "NotAStore"
  | "Truncated"
  | "StoreDamaged"
  | "GateDamaged"
  | "OtherDurability"
  | "Unavailable"
>();

// @ts-expect-error a store is somewhere
void openLmdbStore({});
// @ts-expect-error there is no such durability
void openLmdbStore({ path: "here", durability: "Maybe" });
