import { etcdSkipped, startEtcd, type EtcdServer } from "@gossip/tools/engines";
import type { TestContext } from "vitest";

const SKIPPED = etcdSkipped();

/** Fast elections, so that leases of a second are allowed: etcd insists on more than one and a half election timeouts. */
const PACE = ["--heartbeat-interval=50", "--election-timeout=500"];

/** Skip a test that needs etcd, with a warning, if it is not installed; fail it if engines are required. */
export function requireEtcd(context: TestContext): void {
  if (SKIPPED !== undefined) context.skip(SKIPPED);
}

/** A server for tests that have called `requireEtcd`, or will; `undefined` if there is none to start. */
export async function startTestEtcd(): Promise<EtcdServer | undefined> {
  return SKIPPED === undefined ? startEtcd(PACE) : undefined;
}
