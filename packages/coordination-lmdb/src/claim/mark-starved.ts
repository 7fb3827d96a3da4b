import type { LogicalTime } from "@gossip/contracts";
import type { RunAddress } from "@gossip/store-kit";
import { starvedUntil } from "./claims.ts";
import { RowKind, runKey, U64_SIZE, writeU64 } from "../layout/keyspace.ts";
import type { RecordRows } from "../read/record-rows.ts";
import type { Rows } from "../engine/rows.ts";

/** Marks a run as starved until a time. A mark that lasts longer stays. */
export async function markStarved(
  rows: Rows,
  records: RecordRows,
  mark: RunAddress & { readonly until: LogicalTime },
): Promise<void> {
  const value = Buffer.allocUnsafe(U64_SIZE);
  writeU64(value, mark.until, 0);
  const isNews = () => records.hasRun(mark) && starvedUntil(rows, mark) < mark.until;

  // Many workers find nothing at the same time. Write only if the mark changes.
  rows.refresh();
  if (!isNews()) return;
  await rows.transact(() => {
    if (isNews()) rows.put(runKey(RowKind.Starved, mark), value);
  });
}
