import type { RunRequest } from "@gossip/coordination";
import type { KeyKind } from "@gossip/source-postgres";
import type { OpenedStore } from "../../store-url/opened-store.ts";

const NAME = "key-kinds";
/** Columns whose elements in a key do not look like their values in SQL. */
const NEED_KINDS: ReadonlySet<string> = new Set<KeyKind>(["time", "date", "numeric"]);

/** Store what the columns of a table's key are, if keys cannot be shown without it. Never rejects. */
export async function shareKeyKinds(
  { coordinator }: Pick<OpenedStore, "coordinator">,
  { tenant, run }: RunRequest,
  kinds: readonly KeyKind[] | undefined,
): Promise<void> {
  if (kinds?.some((kind) => NEED_KINDS.has(kind)) !== true) return;
  try {
    const value = new TextEncoder().encode(JSON.stringify(kinds));
    void (await coordinator.putRollup({ tenant, run, name: NAME, value }));
  } catch {
    // The service does not let this token write. Keys are then shown as they are encoded.
  }
}

/** Returns a function that shows a key with the values of its columns, if the run has stored what they are. */
export async function readKeyKinds(
  { coordinator }: Pick<OpenedStore, "coordinator">,
  { tenant, run }: RunRequest,
): Promise<((key: Uint8Array) => string) | undefined> {
  const stored = await coordinator.getRollup({ tenant, run, name: NAME });
  if (!stored.ok || stored.value === undefined) return undefined;
  const { describeTableKey } = await import("@gossip/source-postgres");
  try {
    const kinds = JSON.parse(new TextDecoder().decode(stored.value)) as KeyKind[];
    return Array.isArray(kinds) ? (key) => describeTableKey(kinds, key) : undefined;
  } catch {
    return undefined;
  }
}
