import type { EtcdClient, GetOperation, KeyValue, RangeResult, Txn, TxnResult } from "@gossip/etcd-client";
import { assert } from "@gossip/stdx";
import { EtcdFailure } from "./etcd-failure.ts";
import type { KeyRange, Layout } from "../layout/layout.ts";

/** The results of a read, and the revision they belong to. */
export interface Looked {
  readonly revision: bigint;
  /** One per get, in the same order. */
  readonly found: readonly RangeResult[];
}

/** A range to walk, and the page size. */
export interface Walk extends KeyRange {
  readonly keysOnly?: boolean;
  readonly pageSize?: number;
}

/** Record gets per request. A record can take 50 KB, and both sides hold the whole response in memory. */
const MAX_RECORDS_PER_LOOK = 64;

/** Maximum number of keys in one page of a walk. */
const PAGE_SIZE = 2000;

/** The etcd cluster that holds a store, and its transaction limit. */
export class Cluster {
  readonly client: EtcdClient;
  readonly layout: Layout;
  readonly maxTxnOps: number;

  constructor(client: EtcdClient, { layout, maxTxnOps }: { readonly layout: Layout; readonly maxTxnOps: number }) {
    this.client = client;
    this.layout = layout;
    this.maxTxnOps = maxTxnOps;
  }

  /** Reads several keys and ranges at one revision. Throws `EtcdFailure`. */
  async look(gets: readonly GetOperation[]): Promise<Looked> {
    const done = await this.client.txn({ compare: [], success: gets });
    if (!done.ok) throw EtcdFailure.harmless(done.error);
    const found = done.value.results.map((result) => {
      assert(result.kind === "Get", "etcd must return a range for every get");
      return result;
    });
    assert(found.length === gets.length, "etcd must return one result for every get");
    return { revision: done.value.revision, found };
  }

  /** Reads any number of keys at a revision, in the order given. */
  async readAt(
    revision: bigint,
    keys: readonly string[],
    { keysOnly = false } = {},
  ): Promise<(KeyValue | undefined)[]> {
    const perLook = Math.min(MAX_RECORDS_PER_LOOK, this.maxTxnOps);
    const pieces: Promise<Looked>[] = [];
    for (let from = 0; from < keys.length; from += perLook) {
      pieces.push(this.look(keys.slice(from, from + perLook).map((get) => ({ get, revision, keysOnly }))));
    }
    const looked = await Promise.all(pieces);
    return looked.flatMap(({ found }) => found.map(({ kvs }) => kvs[0]));
  }

  /** Reads a range at a revision, page by page. */
  async *walk(
    revision: bigint,
    { get, end, keysOnly = false, pageSize = PAGE_SIZE }: Walk,
  ): AsyncGenerator<readonly KeyValue[]> {
    let from = get;
    for (;;) {
      const page = await this.client.range({ get: from, end, revision, keysOnly, limit: pageSize });
      if (!page.ok) throw EtcdFailure.harmless(page.error);
      const { kvs, more } = page.value;
      if (kvs.length > 0) yield kvs;
      if (!more || kvs.length === 0) return;
      from = `${kvs.at(-1)!.key}\0`;
    }
  }

  /** Sends a guarded write. Throws `EtcdFailure`, whose `mayBeDone` is true if the outcome is unknown. */
  async write(txn: Txn): Promise<TxnResult> {
    const done = await this.client.txn(txn);
    if (!done.ok) throw new EtcdFailure(done.error);
    return done.value;
  }
}
