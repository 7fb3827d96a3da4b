import { foundAt, type EtcdClient, type EtcdError, type KeyValue } from "@gossip/etcd-client";
import { err, ok, type Result } from "@gossip/stdx";
import { Epoch } from "@gossip/tso";
import type { DriverError } from "../driver/driver-error.ts";
import { decodeHighWater, encodeHighWater, leastTextAt, type HighWaterRecord } from "./high-water-record.ts";

/**
 * The bound in etcd, writable only by the node that holds the leader key.
 *
 * Both conditions, that the leader key is still the one made by this leadership and that the bound grows, are part of the
 * write itself: a leader that was paused for an hour cannot write, and a write that arrives late cannot lower anything.
 */
export class HighWaterKey {
  readonly #client: EtcdClient;
  readonly #key: string;
  readonly #leaderKey: string;

  constructor(client: EtcdClient, names: { readonly key: string; readonly leaderKey: string }) {
    this.#client = client;
    this.#key = names.key;
    this.#leaderKey = names.leaderKey;
  }

  /** What is stored; nothing if no leader has written yet. */
  async load(): Promise<Result<HighWaterRecord | undefined, DriverError>> {
    const read = await this.#client.get(this.#key);
    return read.ok ? decode(read.value.found) : err(driverErrorOf(read.error));
  }

  async raise(record: HighWaterRecord, epoch: Epoch): Promise<Result<number, DriverError>> {
    const isLeader = { key: this.#leaderKey, target: "CREATE", is: "EQUAL", revision: epoch } as const;
    const put = { put: this.#key, value: encodeHighWater(record) };
    const look = [{ get: this.#leaderKey }, { get: this.#key }] as const;
    const isLower = { key: this.#key, target: "VALUE", is: "LESS", value: leastTextAt(record.highWaterMs) } as const;

    const raised = await this.#client.txn({ compare: [isLeader, isLower], success: [put], failure: look });
    if (!raised.ok) return err(driverErrorOf(raised.error));
    if (raised.value.succeeded) return ok(record.highWaterMs);
    const [leader, present] = [foundAt(raised.value, 0), foundAt(raised.value, 1)];
    if (leader === undefined) return err({ kind: "NotLeader" });
    if (leader.createRevision !== epoch)
      return err({ kind: "Fenced", expected: epoch, current: Epoch.fromRaw(leader.createRevision) });
    if (present !== undefined) {
      const stored = decode(present);
      return stored.ok ? ok(stored.value!.highWaterMs) : stored;
    }

    // The very first write: on a key that is not there, no comparison of values holds.
    const isAbsent = { key: this.#key, target: "CREATE", is: "EQUAL", revision: 0n } as const;
    const made = await this.#client.txn({ compare: [isLeader, isAbsent], success: [put], failure: [] });
    if (!made.ok) return err(driverErrorOf(made.error));
    // Another node was faster, or leads now. The next attempt finds out.
    return made.value.succeeded ? ok(record.highWaterMs) : this.raise(record, epoch);
  }
}

/** Unavailability is transient. A refusal is a bug or a configuration error, and permanent. */
export function driverErrorOf(error: EtcdError): DriverError<"TransientDriver" | "PermanentDriver"> {
  if (error.kind === "EtcdUnavailable") return { kind: "TransientDriver", reason: `etcd: ${error.reason}` };
  return { kind: "PermanentDriver", reason: `etcd refused: ${error.reason}` };
}

function decode(found: KeyValue | undefined): Result<HighWaterRecord | undefined, DriverError> {
  if (found === undefined) return { ok: true, value: undefined };
  const record = decodeHighWater(found.value.toString());
  return record.ok ? record : err({ kind: "PermanentDriver", reason: "the high-water key in etcd holds no bound" });
}
