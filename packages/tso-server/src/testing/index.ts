export { describeConsensusDriver } from "./describe-consensus-driver.ts";
export type { DriverAbility, DriverFixture, SuiteRegistrar } from "./driver-fixture.ts";
export { FaultyDriver, type Fault, type PersistCall } from "./faulty-driver.ts";
export { ManualTime, turnEventLoop } from "./manual-time.ts";
export { findOrderViolations, type IssueRecord, type OrderViolation } from "./interval-order.ts";
