export { checkService, PROTOCOL_CASES, type CaseResult, type CheckOptions } from "./check-service.ts";
export { ConformanceFailure } from "./expect-wire.ts";
export type { ProtocolCase } from "./protocol-case.ts";
export { ServiceProbe, type Answered, type Asked, type ElementAnswer, type ServiceUnderTest } from "./service-probe.ts";
