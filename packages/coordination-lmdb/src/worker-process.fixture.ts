import { BundledProcesses } from "@gossip/tools/fault-run";

/** Files of this package as processes. The driver loads a library that is beside it, so that it cannot be bundled. */
export const processes: BundledProcesses = new BundledProcesses(import.meta.url, { external: ["lmdb"] });
