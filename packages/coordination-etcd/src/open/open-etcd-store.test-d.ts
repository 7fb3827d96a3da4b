import type { CoordinationStore } from "@gossip/coordination";
import type { FsckSource } from "@gossip/coordination-fsck";
import type { Result } from "@gossip/stdx";
import { expectTypeOf } from "vitest";
import type { EtcdOpenError, EtcdStore } from "../index.ts";
import { openEtcdStore } from "../index.ts";

expectTypeOf<EtcdStore>().toExtend<CoordinationStore>();
expectTypeOf<EtcdStore>().toExtend<AsyncDisposable>();
expectTypeOf<EtcdStore["inspect"]>().returns.toEqualTypeOf<FsckSource>();
expectTypeOf(openEtcdStore).returns.resolves.toEqualTypeOf<Result<EtcdStore, EtcdOpenError>>();

expectTypeOf<EtcdOpenError["kind"]>().toEqualTypeOf<
  "Unavailable" | "Refused" | "NotAStore" | "NewerFormat" | "TxnBudgetTooSmall"
>();

// @ts-expect-error endpoints come in an array
void openEtcdStore({ endpoints: "http://127.0.0.1:2379" });
// @ts-expect-error there is no such option
void openEtcdStore({ url: "etcd://a", user: "ann" });
