export { assertClaimQuery, assertOwnRecord, assertPageQuery, type RunAddress } from "./assertions.ts";
export { hasEntryMoved, mixOf, type IndexedShard } from "./claim-index.ts";
export { CONFLICT, dispatchCommit, type CommitHandlers, type CommitHandlersAtOnce } from "./dispatch-commit.ts";
export { checkQuota, type QuotaCounts } from "./quota.ts";
export { RunCapacity } from "./run-capacity.ts";
export { closedFailure, CorruptStore, type StoreOperation } from "./store-failure.ts";
export { StoreLifecycle, type StoreLifecycleOptions } from "./store-lifecycle.ts";
export { Sweeper } from "./sweeper.ts";
export { PendingTasks } from "./pending-tasks.ts";
