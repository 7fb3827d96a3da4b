import { assert } from "@gossip/stdx";
import { persistedEnum } from "./persisted-enum.ts";

/** Why a shard was set aside. */
export type ParkReason = "PermissionDenied" | "NotFound" | "Poisoned" | "TooManyErrors" | "Other";

const WORDS: Readonly<Record<ParkReason, string>> = {
  PermissionDenied: "permission denied",
  NotFound: "not found",
  Poisoned: "poisoned",
  TooManyErrors: "too many errors",
  Other: "other",
};

export const ParkReason = {
  .../* @__PURE__ */ persistedEnum({ PermissionDenied: 0, NotFound: 1, Poisoned: 2, TooManyErrors: 3, Other: 4 }),

  /** The reason in lower-case words. */
  toWords(reason: ParkReason): string {
    assert(ParkReason.is(reason), "park reason must be one of ParkReason.values");
    return WORDS[reason];
  },
} as const;
