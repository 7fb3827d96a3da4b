/**
 * When a write counts as committed.
 *
 * | value          | is committed when                                    | kill -9 loses | power loss loses                                     |
 * | -------------- | ---------------------------------------------------- | ------------- | ---------------------------------------------------- |
 * | `"Flushed"`    | data and the page that publishes them are on disk     | nothing       | nothing                                              |
 * | `"DataFlushed"`| data are on disk, the operating system has that page | nothing       | the last commits, back to a state that was whole      |
 * | `"Written"`    | the operating system has both                        | nothing       | any number of commits, and the store may be unreadable |
 *
 * If processes that share a folder differ, the weakest durability applies to all of them.
 */
export type Durability = "Flushed" | "DataFlushed" | "Written";

/** The flags of the engine. */
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
