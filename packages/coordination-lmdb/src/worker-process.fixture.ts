import { BundledProcesses } from "@gossip/tools/fault-run";

/** Files of this package as processes. The driver loads a native library beside it, so it is not bundled. */
export const processes: BundledProcesses = new BundledProcesses(import.meta.url, { external: ["lmdb"] });
