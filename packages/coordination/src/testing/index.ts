export type { ConformanceCase } from "./conformance/conformance-case.ts";
export type { Expect, StoreFixture, TestRunner } from "./conformance/test-runner.ts";
export { CONFORMANCE_CASES, describeCoordinationStore } from "./conformance/describe-coordination-store.ts";
export { World } from "./conformance/world.ts";
export type { Kernel } from "./explore/deliver.ts";
export type { ExploreBounds, ExploreWorker } from "./explore/explore-state.ts";
export { EXPLORE_WORLDS, type ExploreWorldName } from "./explore/explore-worlds.ts";
export { explore, type ExploreFailure, type ExploreOptions, type ExploreReport } from "./explore/explore.ts";
export { MESSAGE_KINDS, type MessageKind } from "./explore/message.ts";
export {
  FaultInjectingStore,
  type CommitFault,
  type FaultSource,
  type ReadFault,
  type StoreRead,
} from "./fault-injecting-store.ts";
export { ManualClock } from "./manual-clock.ts";
export {
  FAULT_KINDS,
  FAULT_LEVELS,
  FAULTS,
  parseFaultLevel,
  type FaultConfig,
  type FaultKind,
  type FaultLevel,
  type Span,
} from "./sim/fault-level.ts";
export {
  formatViolation,
  type CoverageFault,
  type LedgerFault,
  type RunAddress,
  type ShardAddress,
  type SplitFault,
  type Violation,
  type ViolationKind,
} from "./sim/invariants/violation.ts";
export {
  OVERLOAD_KINDS,
  simulateOverload,
  type OverloadKind,
  type OverloadOptions,
  type OverloadReport,
} from "./sim/overload.ts";
export { formatSteps, parseSteps, reproduceLine, shrink } from "./sim/shrink.ts";
export { REJECTION_KINDS, SIM_EVENT_KINDS, type RejectionKind, type SimEventKind } from "./sim/sim-event.ts";
export type { SimConnect } from "./sim/sim-actor.ts";
export type { SimOptions } from "./sim/sim-options.ts";
export { coverageOf, type SimCoverage, type SimReport } from "./sim/sim-report.ts";
export type { Settle } from "./sim/sim-scheduler.ts";
export type { WorldSize } from "./sim/sim-world.ts";
export { simulate } from "./sim/simulation.ts";
export { StoreProbe } from "./store-probe.ts";
