/**
 * When a write counts as made.
 *
 * | value          | is answered when                                     | kill -9 loses | power loss loses                                     |
 * | -------------- | ---------------------------------------------------- | ------------- | ---------------------------------------------------- |
 * | `"Flushed"`    | data and the page that makes them count are on disk  | nothing       | nothing                                              |
 * | `"DataFlushed"`| data are on disk, that page is handed to the system  | nothing       | the last commits, back to a state that was whole      |
 * | `"Written"`    | both are handed to the operating system              | nothing       | any number of commits, and the store may be unreadable |
 *
 * Where processes that share a folder differ, the weakest counts for all of them.
 */
export type Durability = "Flushed" | "DataFlushed" | "Written";

/** What the engine is told. */
export interface DurabilityFlags {
  readonly noSync: boolean;
  readonly noMetaSync: boolean;
}

export const DURABILITY_FLAGS: Readonly<Record<Durability, DurabilityFlags>> = {
  Flushed: { noSync: false, noMetaSync: false },
  DataFlushed: { noSync: false, noMetaSync: true },
  Written: { noSync: true, noMetaSync: false },
};

export function isDurability(value: unknown): value is Durability {
  return typeof value === "string" && Object.hasOwn(DURABILITY_FLAGS, value);
}
