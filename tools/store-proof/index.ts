// What every store is held to beside the conformance kit: it is the same store as the one in memory, and connections may be cut.
export { expectSameAsMemory, LANES, type Lanes } from "./coordinator-differential.ts";
export { CuttingProxy } from "./cutting-proxy.ts";
export type { InspectedStore } from "./inspected-store.ts";
export { expectSamePort, type PortRuns } from "./port-differential.ts";
