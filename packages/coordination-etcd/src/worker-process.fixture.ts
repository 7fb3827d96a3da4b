import { BundledProcesses } from "@gossip/tools/fault-run";

/** Files of this package as processes. */
export const processes: BundledProcesses = new BundledProcesses(import.meta.url, { external: [] });
