export type { GossipClientOptions } from "./client-options.ts";
export { GossipClient } from "./client.ts";
export { ClusterAdmin } from "./cluster-admin.ts";
export type { RequestListener } from "./calls/caller.ts";
export { ServiceRefused } from "./calls/refused-error.ts";
