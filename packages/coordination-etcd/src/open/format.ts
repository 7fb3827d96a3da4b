import type { EtcdClient, EtcdError } from "@gossip/etcd-client";
import { prefixEnd } from "@gossip/etcd-client";
import { err, ok, type Result } from "@gossip/stdx";
import type { EtcdOpenError } from "./etcd-open-error.ts";
import { EtcdFailure } from "../cluster/etcd-failure.ts";
import type { Layout } from "../layout/layout.ts";
import { MIN_TXN_OPS } from "../cluster/txn-budget.ts";

/**
 * Version of the key layout that this package writes.
 *
 * - 1: the first.
 * - 2: changes of status are counted in the spaces of new runs, which a version that knows only 1 takes for damaged.
 */
export const FORMAT = 2;

/** The default limit of etcd. A higher one is not used. */
const MOST_TXN_OPS = 128;

/** Probes the server's transaction limit by reading the same key repeatedly. */
export async function probeTxnOps(client: EtcdClient, layout: Layout): Promise<Result<number, EtcdOpenError>> {
  for (let ops = MOST_TXN_OPS; ops >= MIN_TXN_OPS; ops = ops / 2) {
    const asked = await client.txn({
      compare: [],
      success: Array.from({ length: ops }, () => ({ get: layout.format, countOnly: true })),
    });
    if (asked.ok) return ok(ops);
    if (!new EtcdFailure(asked.error).isTooLarge) return err(openErrorFrom(asked.error));
  }
  return err({ kind: "TxnBudgetTooSmall", needed: MIN_TXN_OPS });
}

/** Checks the format of the store, and writes it if there are no keys under the prefix. */
export async function checkFormat(client: EtcdClient, layout: Layout): Promise<Result<void, EtcdOpenError>> {
  const { format, prefix } = layout;
  const isNew = { key: prefix, end: prefixEnd(prefix), target: "CREATE", is: "EQUAL", revision: 0n } as const;
  const known = await client.get(format);
  if (!known.ok) return err(openErrorFrom(known.error));
  let text = known.value.found?.value.toString();
  if (text === undefined) {
    const others = await client.range({ get: prefix, end: prefixEnd(prefix), limit: 1, keysOnly: true });
    if (!others.ok) return err(openErrorFrom(others.error));
    if (others.value.kvs.length === 0) {
      // Several processes may find it empty at the same time. One creates the store, and the others find it.
      const made = await client.txn({ compare: [isNew], success: [{ put: format, value: String(FORMAT) }] });
      if (!made.ok) return err(openErrorFrom(made.error));
    }
    const now = await client.get(format);
    if (!now.ok) return err(openErrorFrom(now.error));
    text = now.value.found?.value.toString();
  }
  if (text === undefined || !/^[1-9]\d{0,8}$/u.test(text)) return err({ kind: "NotAStore" });
  const found = Number(text);
  if (found > FORMAT) return err({ kind: "NewerFormat", found, supported: FORMAT });
  return found < FORMAT ? raiseFormat(client, layout, text) : ok();
}

/** Keeps older versions from opening the store. Another process may be quicker, and one of a later version may go further. */
async function raiseFormat(
  client: EtcdClient,
  { format }: Layout,
  found: string,
): Promise<Result<void, EtcdOpenError>> {
  const unchanged = { key: format, target: "VALUE", is: "EQUAL", value: found } as const;
  const raised = await client.txn({ compare: [unchanged], success: [{ put: format, value: String(FORMAT) }] });
  if (!raised.ok) return err(openErrorFrom(raised.error));
  const now = await client.get(format);
  if (!now.ok) return err(openErrorFrom(now.error));
  const read = Number(now.value.found?.value.toString());
  return read > FORMAT ? err({ kind: "NewerFormat", found: read, supported: FORMAT }) : ok();
}

function openErrorFrom(error: EtcdError): EtcdOpenError {
  if (error.kind === "EtcdUnavailable") return { kind: "Unavailable", reason: error.reason };
  return { kind: "Refused", code: error.code, reason: error.reason };
}
