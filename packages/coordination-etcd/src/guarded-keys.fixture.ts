import type { EtcdClient, Txn } from "@gossip/etcd-client";
import { assert, unwrap } from "@gossip/stdx";

interface Waiting {
  readonly key: string;
  readonly value: Uint8Array;
  readonly resolve: () => void;
}

/**
 * Keys that are written if they are at the revision that was written last: what the engine does for guarded writes, with nothing of ours around it.
 *
 * `put` lets what comes while a transaction is under way travel together, each as a transaction within the next. `putAlone` is a transaction each.
 */
export class GuardedKeys {
  readonly #client: EtcdClient;
  readonly #revisions = new Map<string, bigint>();
  readonly #prefix: string;
  readonly #inFlight: number;
  #waiting: Waiting[] = [];
  #underWay = 0;
  #isPlanned = false;

  constructor(client: EtcdClient, prefix: string, { inFlight }: { readonly inFlight: number }) {
    this.#client = client;
    this.#prefix = prefix;
    this.#inFlight = inFlight;
  }

  async putAlone(index: number, value: Uint8Array): Promise<void> {
    const key = `${this.#prefix}${index}`;
    const done = unwrap(await this.#client.txn(this.#guarded(key, value)));
    assert(done.succeeded, "the key is at the revision that was written last");
    this.#revisions.set(key, done.revision);
  }

  put(index: number, value: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ key: `${this.#prefix}${index}`, value, resolve });
      if (this.#isPlanned) return;
      this.#isPlanned = true;
      queueMicrotask(() => {
        this.#isPlanned = false;
        this.#flush();
      });
    });
  }

  #guarded(key: string, value: Uint8Array): Txn {
    return {
      compare: [{ key, target: "MOD", is: "EQUAL", revision: this.#revisions.get(key) ?? 0n }],
      success: [{ put: key, value }],
    };
  }

  #flush(): void {
    while (this.#underWay < this.#inFlight && this.#waiting.length > 0) void this.#send(this.#waiting.splice(0));
  }

  async #send(batch: readonly Waiting[]): Promise<void> {
    this.#underWay++;
    const done = unwrap(
      await this.#client.txn({
        compare: [],
        success: batch.map(({ key, value }) => ({ txn: this.#guarded(key, value) })),
      }),
    );
    this.#underWay--;
    for (const [index, { key, resolve }] of batch.entries()) {
      const result = done.results[index];
      assert(result?.kind === "Txn" && result.succeeded, "the key is at the revision that was written last");
      this.#revisions.set(key, done.revision);
      resolve();
    }
    this.#flush();
  }
}
