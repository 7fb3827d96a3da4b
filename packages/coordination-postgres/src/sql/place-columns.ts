/** What a shard can be claimed from that nobody holds. Sorts before every deadline. */
export const UNHELD = "'\\x0000000000000000'";

/** Where a shard is among those that are not finished, by its status and its lease's deadline; all of them pieces of SQL. */
export interface PlaceColumns {
  /** Null where it is finished, and nobody looks for it. */
  readonly status: string;
  readonly claimableAt: string;
}

/** As `placeOf` says it. The statement has all that it takes, and arrays that are not sent need not be read. */
export function placeColumns(status: string, deadline: string): PlaceColumns {
  return {
    status: `NULLIF(${status}, 'Done')`,
    claimableAt: `CASE ${status} WHEN 'Active' THEN coalesce(${deadline}, ${UNHELD}) ELSE ${UNHELD} END`,
  };
}
