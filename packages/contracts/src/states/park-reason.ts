import { assert } from "@gossip/stdx";
import { persistedEnum, type PersistedEnum } from "./persisted-enum.ts";

/** Why a shard was set aside. */
export type ParkReason = "PermissionDenied" | "NotFound" | "Poisoned" | "TooManyErrors" | "Other";

export interface ParkReasonCompanion extends PersistedEnum<ParkReason> {
  /** The reason in lower-case words. */
  toWords(reason: ParkReason): string;
}

const WORDS: Readonly<Record<ParkReason, string>> = {
  PermissionDenied: "permission denied",
  NotFound: "not found",
  Poisoned: "poisoned",
  TooManyErrors: "too many errors",
  Other: "other",
};

export const ParkReason: ParkReasonCompanion = {
  .../* @__PURE__ */ persistedEnum({ PermissionDenied: 0, NotFound: 1, Poisoned: 2, TooManyErrors: 3, Other: 4 }),

  toWords(reason) {
    assert(ParkReason.is(reason), "park reason must be one of ParkReason.values");
    return WORDS[reason];
  },
};
