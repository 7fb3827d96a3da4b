import { CursorSemantics, ParkReason, RunStatus, ShardStatus, type PersistedEnum } from "@gossip/contracts";
import { persistedEnum } from "@gossip/contracts/internal";
import { OpKind, OpResult, RunOpKind, type RunOpResult } from "@gossip/coordination";

/** A field with one of a closed set of names. `field` is its name in errors. */
export interface EnumField<Name extends string> {
  readonly field: string;
  readonly codes: Readonly<Record<Name, number>>;
  /** Names by code. A code without a name has `undefined`. */
  readonly names: readonly (Name | undefined)[];
  /** The name with the lowest code, used if none can be read. */
  readonly first: Name;
}

function enumField<Name extends string>(field: string, { codes, values }: PersistedEnum<Name>): EnumField<Name> {
  const names: (Name | undefined)[] = [];
  // In order, so that the array has no holes, which would be looked up in the prototype.
  for (let code = 0; names.filter((name) => name !== undefined).length < values.length; code++) {
    names.push(values.find((name) => codes[name] === code));
  }
  return { field, codes, names, first: values[0]! };
}

export const STATUS: EnumField<ShardStatus> = /* @__PURE__ */ enumField("status", ShardStatus);
export const PARK_REASON: EnumField<ParkReason> = /* @__PURE__ */ enumField("parkReason", ParkReason);
export const CURSOR_SEMANTICS: EnumField<CursorSemantics> = /* @__PURE__ */ enumField(
  "cursorSemantics",
  CursorSemantics,
);
export const OP_KIND: EnumField<OpKind> = /* @__PURE__ */ enumField("opLog.kind", OpKind);
export const OP_RESULT: EnumField<OpResult> = /* @__PURE__ */ enumField("opLog.result", OpResult);
export const CONFIG_SEMANTICS: EnumField<CursorSemantics> = /* @__PURE__ */ enumField(
  "config.cursorSemantics",
  CursorSemantics,
);
export const RUN_STATUS: EnumField<RunStatus> = /* @__PURE__ */ enumField("status", RunStatus);
export const RUN_OP_KIND: EnumField<RunOpKind> = /* @__PURE__ */ enumField("opLog.kind", RunOpKind);

/** The codes of the results of run operations. Only stored runs use them. */
export const RUN_OP_RESULT: EnumField<RunOpResult["kind"]> = /* @__PURE__ */ enumField(
  "opLog.result",
  persistedEnum({ RegisteredShards: 1, Ack: 2 }),
);
