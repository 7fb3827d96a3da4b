// The types list what a caller must handle. A missing kind is a case that callers forget; an extra one is a case that
// every caller writes and that never occurs.

import type { LogicalTime, OpId, ShardKey, TenantId, WorkerId } from "@gossip/contracts";
import type { CheckpointError, IdempotentOutcome, RenewError, SessionError } from "@gossip/coordination-errors";
import type { Result } from "@gossip/stdx";
import { expectTypeOf, test } from "vitest";
import type { RANGE_EXHAUSTED } from "../hashing/payload-hash.ts";
import { kernel } from "../kernel/kernel.ts";
import type { Lease } from "../records/lease.ts";
import type { WorkerSession } from "../session/worker-session.ts";
import type { MemoryStore } from "../memory/memory-store.ts";
import type { CoordinationStore } from "../store/coordination-store.ts";
import type { Coordinator } from "./coordinator.ts";
import type { CheckpointResult } from "./shard-requests.ts";

declare const coordinator: Coordinator;
declare const tenant: TenantId;
declare const key: ShardKey;
declare const worker: WorkerId;
declare const lease: Lease;
declare const opId: OpId;
declare const exhausted: typeof RANGE_EXHAUSTED;

test("each operation fails in its own ways and no others", () => {
  type Failure<Answer> =
    Answer extends Promise<Result<unknown, infer E extends { readonly kind: string }>> ? E["kind"] : never;
  type Of<Method extends keyof Coordinator> = Coordinator[Method] extends (...args: never[]) => infer Answer
    ? Failure<Answer>
    : never;

  expectTypeOf<Of<"renew">>().toEqualTypeOf<RenewError["kind"]>();
  expectTypeOf<Extract<Of<"checkpoint">, "AlreadyLeased" | "SplitInvalid" | "RunTerminal">>().toEqualTypeOf<never>();
  expectTypeOf<Extract<Of<"acquire">, "StaleFence" | "LeaseExpired" | "OpIdConflict">>().toEqualTypeOf<never>();
  expectTypeOf<Of<"claim">>().toEqualTypeOf<
    "NoneAvailable" | "RunNotFound" | "TenantMismatch" | "Throttled" | "RunTerminal" | "BackendError"
  >();
  expectTypeOf<Of<"listTenants">>().toEqualTypeOf<"BackendError">();
  expectTypeOf<Extract<Of<"cancelRun">, "WrongStatus" | "RunUnsettled">>().toEqualTypeOf<never>();
  expectTypeOf<Extract<Of<"completeRun">, "RunUnsettled">>().toEqualTypeOf<"RunUnsettled">();
});

test("a session adds that it may be closed", () => {
  expectTypeOf<ReturnType<WorkerSession["checkpoint"]>>().resolves.toEqualTypeOf<
    Result<IdempotentOutcome<CheckpointResult>, CheckpointError | SessionError>
  >();
  expectTypeOf<WorkerSession["complete"]>().toBeCallableWith(exhausted);
});

test("what an operation cannot do without must be given", () => {
  expectTypeOf<Coordinator["acquire"]>().toBeCallableWith({ tenant, key, worker });
  // @ts-expect-error a release without an op id could not be repeated
  void coordinator.release({ tenant, lease });
  // @ts-expect-error the tenant is required
  void coordinator.acquire({ key, worker });
  // @ts-expect-error a shard's key is no worker
  void coordinator.acquire({ tenant, key, worker: key.shard });
  // @ts-expect-error a lease is made by a coordinator, not written down
  void coordinator.release({ tenant, lease: { tenant, run: key.run, shard: key.shard }, opId });
});

test("the kernel knows nothing of stores", () => {
  type Kinds<Decide> = Decide extends (...args: never[]) => Result<unknown, infer E extends { readonly kind: string }>
    ? E["kind"]
    : never;
  expectTypeOf<Extract<Kinds<typeof kernel.checkpoint>, "BackendError" | "ResourceExhausted">>().toEqualTypeOf<never>();
  expectTypeOf(kernel.renew).parameter(2).toEqualTypeOf<LogicalTime>();
});

test("the memory store is a store", () => {
  expectTypeOf<MemoryStore>().toExtend<CoordinationStore>();
});
