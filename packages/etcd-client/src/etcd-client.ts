import { assert, assertCount, err, ok, type Result } from "@gossip/stdx";
import { EtcdCode, type EtcdError } from "./etcd-error.ts";
import type { EtcdOptions } from "./etcd-options.ts";
import { integerOf, listOf, objectOf, revisionOf, unavailable, type Json } from "./json-answer.ts";
import { JsonGateway, type CallKind } from "./json-gateway.ts";
import { encodeText, readRange, type KeyValue, type RangeResult } from "./key-value.ts";
import {
  encodeGet,
  encodeKeys,
  encodePut,
  encodeTxn,
  readTxn,
  type GetOperation,
  type InnerTxnResult,
  type TxnOperation,
  type PutOperation,
  type Txn,
} from "./operation.ts";

export interface TxnResult extends InnerTxnResult {
  /** The revision of etcd after the transaction: that of its writes, if it made any. */
  readonly revision: bigint;
}

/**
 * The few calls of etcd's API that a coordination service needs.
 *
 * Keys are text, values text or bytes. Calls return their failures. Only malformed input throws.
 */
export class EtcdClient {
  readonly #gateway: JsonGateway;

  constructor(options: EtcdOptions) {
    this.#gateway = new JsonGateway(options);
  }

  /** A linearizable read of one key: it sees every write that was acknowledged before it. */
  async get(
    key: string,
  ): Promise<Result<{ readonly revision: bigint; readonly found: KeyValue | undefined }, EtcdError>> {
    const answer = await this.range({ get: key });
    return answer.ok ? ok({ revision: answer.value.revision, found: answer.value.kvs[0] }) : answer;
  }

  /** A linearizable read of a range. */
  async range(operation: GetOperation): Promise<Result<RangeResult & { readonly revision: bigint }, EtcdError>> {
    const answer = await this.#call("/v3/kv/range", encodeGet(operation), "Read");
    return answer.ok ? ok({ revision: revisionOf(answer.value), ...readRange(answer.value) }) : answer;
  }

  /** Writes a key unconditionally. Returns the revision of the write. */
  async put(operation: PutOperation): Promise<Result<bigint, EtcdError>> {
    const answer = await this.#call("/v3/kv/put", encodePut(operation), "Write");
    return answer.ok ? ok(revisionOf(answer.value)) : answer;
  }

  /** Deletes a key, or with `end` the half-open range from it to `end`. Returns the number of deleted keys. */
  async delete(key: string, end?: string): Promise<Result<number, EtcdError>> {
    const answer = await this.#call("/v3/kv/deleterange", encodeKeys(key, end), "Write");
    return answer.ok ? ok(Number(integerOf(answer.value["deleted"]))) : answer;
  }

  /** All of `success` if every comparison holds, else all of `failure`; atomically. */
  async txn(txn: Txn): Promise<Result<TxnResult, EtcdError>> {
    const answer = await this.#call("/v3/kv/txn", encodeTxn(txn), isReadOnly(txn) ? "Read" : "Write");
    return answer.ok ? ok({ revision: revisionOf(answer.value), ...readTxn(answer.value) }) : answer;
  }

  /** A lease for at least `ttlS` seconds; etcd may insist on more. */
  async grantLease(ttlS: number): Promise<Result<{ readonly leaseId: bigint; readonly ttlS: number }, EtcdError>> {
    assertCount(ttlS, "seconds of a lease", { min: 1, max: 2 ** 31 });
    const answer = await this.#call("/v3/lease/grant", { TTL: String(ttlS) }, "Write");
    return answer.ok
      ? ok({ leaseId: integerOf(answer.value["ID"]), ttlS: Number(integerOf(answer.value["TTL"])) })
      : answer;
  }

  /** Renews a lease. Returns its remaining time, or 0 if it has expired. */
  async keepLeaseAlive(leaseId: bigint, timeoutMs?: number): Promise<Result<{ readonly ttlS: number }, EtcdError>> {
    const body = { ID: lease(leaseId) };
    const answer = await this.#gateway.call("/v3/lease/keepalive", body, { kind: "Write", timeoutMs });
    return answer.ok ? ok({ ttlS: Number(integerOf(objectOf(answer.value["result"])["TTL"])) }) : answer;
  }

  /** Whether a lease still has time. */
  async isLeaseAlive(leaseId: bigint): Promise<Result<boolean, EtcdError>> {
    const answer = await this.#gateway.call("/v3/lease/timetolive", { ID: lease(leaseId) }, { kind: "Read" });
    // A lease in its last second has 0; an expired one has -1.
    return answer.ok ? ok(integerOf(answer.value["TTL"]) >= 0n) : answer;
  }

  /** Revokes a lease, and deletes the keys attached to it. Revoking an expired lease succeeds. */
  async revokeLease(leaseId: bigint, timeoutMs?: number): Promise<Result<void, EtcdError>> {
    const answer = await this.#gateway.call("/v3/lease/revoke", { ID: lease(leaseId) }, { kind: "Write", timeoutMs });
    if (answer.ok || (answer.error.kind === "EtcdRefused" && answer.error.code === EtcdCode.NotFound)) return ok();
    return err(answer.error);
  }

  /** Watches a key for changes from `fromRevision` on. Returns the function that stops the watch. */
  watch(
    key: string,
    fromRevision: bigint,
    onChange: (isDeleted: boolean) => void,
    onEnd: (reason: string) => void,
  ): () => void {
    const request = { create_request: { key: encodeText(key), start_revision: fromRevision.toString() } };
    const onAnswer = (answer: Json): void => {
      for (const event of listOf(objectOf(answer["result"])["events"])) onChange(event["type"] === "DELETE");
    };
    return this.#gateway.stream("/v3/watch", request, onAnswer, onEnd);
  }

  /**
   * The clock of the member that answers, as the `Date` header of its response: whole seconds, rounded down. Reads `key`,
   * so that no other rights are needed. `undefined` if a proxy removed the header.
   */
  async readDate(key: string): Promise<Result<Date | undefined, EtcdError>> {
    let text: string | undefined;
    const onDate = (date: string | undefined): void => void (text = date);
    const body = encodeGet({ get: key, keysOnly: true });
    const answer = await this.#gateway.call("/v3/kv/range", body, { kind: "Read", onDate });
    if (!answer.ok) return answer;
    const date = new Date(text ?? NaN);
    return ok(Number.isNaN(date.getTime()) ? undefined : date);
  }

  /** Closes the connections. Requests in flight fail as if the connections had broken. */
  close(): void {
    this.#gateway.close();
  }

  /**
   * Checks that etcd itself sent the response, and not a proxy: etcd includes its revision. An empty object taken for a
   * response would mean that the key does not exist.
   */
  async #call(path: string, body: object, kind: CallKind): Promise<Result<Json, EtcdError>> {
    const answer = await this.#gateway.call(path, body, { kind });
    return !answer.ok || revisionOf(answer.value) > 0n
      ? answer
      : unavailable("an answer without a revision is not etcd's");
  }
}

function isReadOnly({ success, failure = [] }: Txn): boolean {
  return [...success, ...failure].every(isRead);
}

function isRead(operation: TxnOperation): boolean {
  return "get" in operation || ("txn" in operation && isReadOnly(operation.txn));
}

function lease(leaseId: bigint): string {
  assert(typeof leaseId === "bigint", () => `a lease is named by a bigint, got ${typeof leaseId}`);
  return leaseId.toString();
}
