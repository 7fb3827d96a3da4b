export type { ConformanceCase } from "./conformance/conformance-case.ts";
export type { Expect, StoreFixture, TestRunner } from "./conformance/test-runner.ts";
export { CONFORMANCE_CASES, describeCoordinationStore } from "./conformance/describe-coordination-store.ts";
export { World } from "./conformance/world.ts";
export { FaultInjectingStore, type CommitFault, type FaultSource, type ReadFault, type StoreRead } from "./fault-injecting-store.ts";
export { ManualClock } from "./manual-clock.ts";
export { StoreProbe } from "./store-probe.ts";
