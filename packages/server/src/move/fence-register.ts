import { RunId, TenantId, type Clock } from "@gossip/contracts";
import { Coordinator, type CoordinationStore, type Note, type Page } from "@gossip/coordination";
import { unwrap } from "@gossip/stdx";

/** An operator's word that a node is down, and that its fallback takes its scopes over. */
export interface Takeover {
  readonly node: string;
  readonly by: string;
}

/** Where all nodes of a cluster see which of them are declared down. Calls reject if the store does not answer. */
export interface FenceRegister {
  list(): Promise<readonly Takeover[]>;
  put(takeover: Takeover): Promise<void>;
  remove(takeover: Takeover): Promise<void>;
}

/** The run of the cluster itself: `gossip/cluster` in ASCII, then zeros. It has no shards. */
export const CLUSTER_TENANT: TenantId = unwrap(
  TenantId.parse(Buffer.from("gossip/cluster").toString("hex").padEnd(64, "0")),
);
const RUN = { tenant: CLUSTER_TENANT, run: RunId.fromRaw(1n) };
const PREFIX = "takeover/";
/** The least key that does not begin with it. */
const END = "takeover0";

/** The register in the store that the nodes share: a note of a run that belongs to no user. */
export class StoreFences implements FenceRegister {
  readonly #store: CoordinationStore;
  readonly #clock: Clock;

  constructor(store: CoordinationStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  async list(): Promise<readonly Takeover[]> {
    const found: Takeover[] = [];
    for (let start: Uint8Array | undefined = Buffer.from(PREFIX); start !== undefined;) {
      const query = { ...RUN, space: "setting" as const, start, end: Buffer.from(END), limit: 100 };
      const page: Page<Note, Uint8Array> = unwrap(await this.#store.listNotes(query));
      for (const { value } of page.items) found.push(JSON.parse(Buffer.from(value).toString()) as Takeover);
      start = page.next;
    }
    return found;
  }

  async put(takeover: Takeover): Promise<void> {
    const coordinator = new Coordinator({ store: this.#store, clock: this.#clock });
    // The run may exist already, which is as good.
    void (await coordinator.createRun({ ...RUN, config: { leaseDuration: 1_000n } }));
    await this.#write(takeover, Buffer.from(JSON.stringify(takeover)));
  }

  async remove(takeover: Takeover): Promise<void> {
    await this.#write(takeover, undefined);
  }

  async #write({ node, by }: Takeover, value: Uint8Array | undefined): Promise<void> {
    const key = Buffer.from(`${PREFIX}${node}/${by}`);
    const [answer] = await this.#store.commit([
      { kind: "WriteNotes", ...RUN, notes: [{ space: "setting", key, value }] },
    ]);
    if (answer?.kind !== "Committed") throw new Error(`the store did not take the note (${answer?.kind})`);
  }
}
