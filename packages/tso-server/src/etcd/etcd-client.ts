import { err, ok, type Result } from "@gossip/stdx";
import { NOT_FOUND, type EtcdError } from "./etcd-error.ts";
import { JsonGateway, type GatewayOptions, type Json } from "./json-gateway.ts";

export interface KeyValue {
  readonly key: string;
  readonly value: string;
  readonly createRevision: bigint;
  readonly modRevision: bigint;
  readonly leaseId: bigint;
}

/** A condition on one key. On a key that is not there, revisions are 0 and a comparison of values never holds. */
export type Compare =
  | { readonly key: string; readonly target: "CREATE" | "MOD"; readonly is: "EQUAL" | "LESS" | "GREATER"; readonly revision: bigint }
  | { readonly key: string; readonly target: "VALUE"; readonly is: "EQUAL" | "LESS" | "GREATER"; readonly value: string };

export type Operation = { readonly put: string; readonly value: string; readonly leaseId?: bigint } | { readonly get: string } | { readonly delete: string };

export interface TxnResult {
  readonly succeeded: boolean;
  readonly revision: bigint;
  /** For each operation that was done: what a `get` found, and nothing for the others. */
  readonly found: readonly (KeyValue | undefined)[];
}

/** The few calls of etcd's API that a coordination service needs, with keys and values as text. */
export class EtcdClient {
  readonly #gateway: JsonGateway;

  constructor(options: GatewayOptions) {
    this.#gateway = new JsonGateway(options);
  }

  /** A linearised read: it sees every write that was acknowledged before it. */
  async get(key: string): Promise<Result<{ readonly revision: bigint; readonly found: KeyValue | undefined }, EtcdError>> {
    const answer = etcdsOwn(await this.#gateway.call("/v3/kv/range", { key: encode(key) }));
    return answer.ok ? ok({ revision: revisionOf(answer.value), found: firstOf(answer.value) }) : answer;
  }

  /** All of `success` if every comparison holds, else all of `failure`; atomically. */
  async txn(request: { readonly compare: readonly Compare[]; readonly success: readonly Operation[]; readonly failure: readonly Operation[] }): Promise<Result<TxnResult, EtcdError>> {
    const answer = etcdsOwn(
      await this.#gateway.call("/v3/kv/txn", {
        compare: request.compare.map((compare) => encodeCompare(compare)),
        success: request.success.map((operation) => encodeOperation(operation)),
        failure: request.failure.map((operation) => encodeOperation(operation)),
      }),
    );
    if (!answer.ok) return answer;
    return ok({
      succeeded: answer.value["succeeded"] === true,
      revision: revisionOf(answer.value),
      found: listOf(answer.value["responses"]).map((response) => firstOf(objectOf(response["response_range"]))),
    });
  }

  /** A lease for at least `ttlS` seconds; etcd may insist on more. */
  async grantLease(ttlS: number): Promise<Result<{ readonly leaseId: bigint; readonly ttlS: number }, EtcdError>> {
    const answer = etcdsOwn(await this.#gateway.call("/v3/lease/grant", { TTL: String(ttlS) }));
    return answer.ok ? ok({ leaseId: integerOf(answer.value["ID"]), ttlS: Number(integerOf(answer.value["TTL"])) }) : answer;
  }

  /** Start a lease's time anew. Answers with the time it has, 0 where it is no more. */
  async keepLeaseAlive(leaseId: bigint, timeoutMs: number): Promise<Result<{ readonly ttlS: number }, EtcdError>> {
    const answer = await this.#gateway.call("/v3/lease/keepalive", { ID: leaseId.toString() }, timeoutMs);
    return answer.ok ? ok({ ttlS: Number(integerOf(objectOf(answer.value["result"])["TTL"])) }) : answer;
  }

  /** Whether a lease still has time. */
  async isLeaseAlive(leaseId: bigint): Promise<Result<boolean, EtcdError>> {
    const answer = await this.#gateway.call("/v3/lease/timetolive", { ID: leaseId.toString() });
    // A lease in its last second has 0; one that is no more has -1.
    return answer.ok ? ok(integerOf(answer.value["TTL"]) >= 0n) : answer;
  }

  /** End a lease, and with it every key that hangs on it. One that is no more is ended already. */
  async revokeLease(leaseId: bigint, timeoutMs: number): Promise<Result<void, EtcdError>> {
    const answer = await this.#gateway.call("/v3/lease/revoke", { ID: leaseId.toString() }, timeoutMs);
    if (answer.ok || (answer.error.kind === "EtcdRefused" && answer.error.code === NOT_FOUND)) return ok();
    return err(answer.error);
  }

  /** Hear of every change to a key from `fromRevision` on. Returns the function that stops it. */
  watch(key: string, fromRevision: bigint, onChange: (isDeleted: boolean) => void, onEnd: (reason: string) => void): () => void {
    const request = { create_request: { key: encode(key), start_revision: fromRevision.toString() } };
    return this.#gateway.stream(
      "/v3/watch",
      request,
      (answer) => {
        for (const event of listOf(objectOf(answer["result"])["events"])) onChange(event["type"] === "DELETE");
      },
      onEnd,
    );
  }

  close(): void {
    this.#gateway.close();
  }
}

function encodeCompare(compare: Compare): object {
  const common = { key: encode(compare.key), target: compare.target, result: compare.is };
  if (compare.target === "VALUE") return { ...common, value: encode(compare.value) };
  return { ...common, [compare.target === "CREATE" ? "create_revision" : "mod_revision"]: compare.revision.toString() };
}

function encodeOperation(operation: Operation): object {
  if ("get" in operation) return { request_range: { key: encode(operation.get) } };
  if ("delete" in operation) return { request_delete_range: { key: encode(operation.delete) } };
  const lease = operation.leaseId === undefined ? {} : { lease: operation.leaseId.toString() };
  return { request_put: { key: encode(operation.put), value: encode(operation.value), ...lease } };
}

function firstOf(range: Json): KeyValue | undefined {
  const first = listOf(range["kvs"])[0];
  if (first === undefined) return undefined;
  return {
    key: decode(first["key"]),
    value: decode(first["value"]),
    createRevision: integerOf(first["create_revision"]),
    modRevision: integerOf(first["mod_revision"]),
    leaseId: integerOf(first["lease"]),
  };
}

/**
 * An answer that etcd gave, and not something in front of it: etcd says at which revision it answers. Taken for
 * an answer, an empty object would mean that there is no such key.
 */
function etcdsOwn(answer: Result<Json, EtcdError>): Result<Json, EtcdError> {
  return !answer.ok || revisionOf(answer.value) > 0n ? answer : err({ kind: "EtcdUnavailable", reason: "an answer without a revision is not etcd's" });
}

function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.map((each) => objectOf(each)) : [];
}

function revisionOf(answer: Json): bigint {
  return integerOf(objectOf(answer["header"])["revision"]);
}

function objectOf(value: unknown): Json {
  return typeof value === "object" && value !== null ? (value as Json) : {};
}

/** 64-bit integers come as text, or not at all where they are 0. */
function integerOf(value: unknown): bigint {
  return typeof value === "string" && /^-?[0-9]{1,20}$/u.test(value) ? BigInt(value) : 0n;
}

function encode(text: string): string {
  return Buffer.from(text, "utf8").toString("base64");
}

function decode(value: unknown): string {
  return typeof value === "string" ? Buffer.from(value, "base64").toString("utf8") : "";
}
