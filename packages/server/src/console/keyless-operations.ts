import { OPERATIONS, type OperationName } from "@gossip/protocol";

/** Operations besides the console's own that a page uses, and that neither take nor return keys. */
const OTHERS: ReadonlySet<OperationName> = new Set<OperationName>([
  "cancelRun",
  "changeRunSettings",
  "countFailures",
  "getRun",
  "getRunSettings",
  "listRuns",
  "listTenants",
  "unpark",
]);

/** Whether a server that hides keys may execute an operation. The console's own know how to hide them. */
export function hidesKeys(name: OperationName): boolean {
  return OPERATIONS[name].path.startsWith("/v1/console/") || OTHERS.has(name);
}
