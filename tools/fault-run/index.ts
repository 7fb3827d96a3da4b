// What fault runs of all stores have in common: processes that work and are killed, what they write down, and the verdict.
export { BundledProcesses, waitFor, type Ended, type ProcessLimits } from "./bundled-processes.ts";
export { countLines, lacking, readFaultLogs, type FaultLine, type FaultWorkerConfig } from "./fault-log.ts";
export { judge, type FaultVerdict } from "./fault-verdict.ts";
export { runFaultWorker } from "./fault-worker.ts";
export { countAnswers, FAULT_SECONDS, torment, type Torment } from "./torment.ts";
