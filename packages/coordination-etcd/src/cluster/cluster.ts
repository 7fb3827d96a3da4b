import type { EtcdClient, GetOperation, KeyValue, RangeResult, Txn, TxnResult } from "@gossip/etcd-client";
import { assert } from "@gossip/stdx";
import { EtcdFailure } from "./etcd-failure.ts";
import type { KeyRange, Layout } from "../layout/layout.ts";

/** What was found, and when. */
export interface Looked {
  readonly revision: bigint;
  /** For each look, in their order. */
  readonly found: readonly RangeResult[];
}

/** What to go through, and how much of it at a time. */
export interface Walk extends KeyRange {
  readonly keysOnly?: boolean;
  readonly pageSize?: number;
}

/** Gets of records in one request: a record can have fifty kilobytes, and an answer is held in memory as a whole, here and there. */
const MAX_RECORDS_PER_LOOK = 64;

/** Most keys that one page of a walk over a range has. */
const PAGE_SIZE = 2000;

/** An etcd with a store in it, and what it takes in one transaction. */
export class Cluster {
  readonly client: EtcdClient;
  readonly layout: Layout;
  readonly maxTxnOps: number;

  constructor(client: EtcdClient, { layout, maxTxnOps }: { readonly layout: Layout; readonly maxTxnOps: number }) {
    this.client = client;
    this.layout = layout;
    this.maxTxnOps = maxTxnOps;
  }

  /** Look at several keys and ranges as they are at one moment. Throws `EtcdFailure`. */
  async look(gets: readonly GetOperation[]): Promise<Looked> {
    const done = await this.client.txn({ compare: [], success: gets });
    if (!done.ok) throw EtcdFailure.harmless(done.error);
    const found = done.value.results.map((result) => {
      assert(result.kind === "Get", "a look is answered with what was found");
      return result;
    });
    assert(found.length === gets.length, "every look is answered");
    return { revision: done.value.revision, found };
  }

  /** The keys as they were at a revision, in their order, however many. */
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

  /** Everything in a range as it was at a revision, page by page. */
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

  /** Write, if all still holds. Throws `EtcdFailure`, which says whether it may be made all the same. */
  async write(txn: Txn): Promise<TxnResult> {
    const done = await this.client.txn(txn);
    if (!done.ok) throw new EtcdFailure(done.error);
    return done.value;
  }
}
