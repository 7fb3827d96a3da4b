import { Cursor, OpId, RunId, ShardId, ShardSpec, TenantId } from "@gossip/contracts";
import { Coordinator, MemoryStore } from "@gossip/coordination";
import { ManualClock } from "@gossip/coordination/testing";
import { OwnershipNode } from "@gossip/scope";
import { unwrap } from "@gossip/stdx";
import type { Authenticate } from "../http/request-handler.ts";
import { GossipServer } from "../server.ts";
import { parseClusterFile } from "./cluster-file.ts";
import { Ownership } from "./ownership.ts";

/** A tenant whose id begins with this hex digit. */
export const tenantOf = (digit: string): TenantId => unwrap(TenantId.parse(digit.padEnd(64, "0")));

export interface ClusterNode {
  readonly server: GossipServer;
  readonly ownership: Ownership;
  readonly coordinator: Coordinator;
}

/** Nodes a and b over one store: a owns the tenants that begin with 1 and 3, b those with 2. */
export class TestCluster {
  readonly clock = new ManualClock(1_000n);
  readonly store = new MemoryStore();
  readonly nodes = new Map<string, ClusterNode>();
  readonly #authenticate: Authenticate | undefined;

  constructor(authenticate?: Authenticate) {
    this.#authenticate = authenticate;
  }

  async start(): Promise<this> {
    const { table } = unwrap(
      parseClusterFile(`
        cluster.node = [{ name = "a", address = "a:1" }, { name = "b", address = "b:1" }]
        cluster.scope = [
          { prefix = "t/1", writer = "a" },
          { prefix = "t/2", writer = "b" },
          { prefix = "t/3", writer = "a" },
          { prefix = "t/${tenantOf("3")}/r/0000000000000002", writer = "b" },
        ]
      `),
    );
    const addresses = new Map<string, string>();
    for (const self of ["a", "b"]) {
      const ownership = new Ownership(OwnershipNode.open(table, { self, unknownKeys: "refuse" }), addresses);
      const coordinator = new Coordinator({ store: this.store, clock: this.clock, shardCopies: 100 });
      const server = unwrap(
        await GossipServer.start({
          coordinator,
          clock: this.clock,
          ownership,
          listen: { port: 0 },
          authenticate: this.#authenticate,
          isStoreShared: true,
        }),
      );
      addresses.set(self, new URL(server.url).host);
      this.nodes.set(self, { server, ownership, coordinator });
    }
    return this;
  }

  node(name: string): ClusterNode {
    return this.nodes.get(name)!;
  }

  /** Create a run with one shard, behind the nodes' backs. */
  async seed(tenant: TenantId, run: bigint): Promise<void> {
    const { coordinator } = this.node("a");
    const spec = ShardSpec.withRange({ start: Uint8Array.of(0x61), end: Uint8Array.of(0x7a) });
    const shards = [{ shard: ShardId.fromRaw(10n), spec, cursor: Cursor.initial() }];
    const config = { leaseDuration: 60_000n };
    unwrap(
      await coordinator.createRunWithShards({
        tenant,
        run: RunId.fromRaw(run),
        config,
        shards,
        opId: OpId.fromRaw(1n),
      }),
    );
  }

  async send(name: string, path: string, { body, headers = {} }: { body?: object; headers?: object } = {}) {
    const response = await fetch(`${this.node(name).server.url}${path}`, {
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
      headers: { "content-type": "application/json", ...headers },
    });
    return {
      status: response.status,
      retryAfter: response.headers.get("retry-after"),
      json: (await response.json()) as Record<string, never>,
    };
  }

  async close(): Promise<void> {
    for (const { server } of this.nodes.values()) await server.close();
  }
}
