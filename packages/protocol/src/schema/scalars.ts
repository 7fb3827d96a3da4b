import Type from "typebox";

/** A 64-bit id: 16 hex digits, so that the order of the texts is the order of the ids. */
export const Id = Type.String({ pattern: "^[0-9a-f]{16}$", description: "A 64-bit id, as 16 lowercase hex digits." });

export const Tenant = Type.String({ pattern: "^[0-9a-f]{64}$", description: "A tenant, as 64 lowercase hex digits." });

/** A 64-bit number that is no id: JSON numbers lose digits above 2^53. */
export const U64 = Type.String({
  pattern: "^(0|[1-9][0-9]{0,19})$",
  description: "A 64-bit number, in decimal digits.",
});

export const Base64Url = Type.String({
  pattern: "^[A-Za-z0-9_-]*$",
  description: "Bytes, as base64url without padding.",
});

export const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

export const RunStatusName = names("Initializing", "Active", "Done", "Failed", "Cancelled");
export const ShardStatusName = names("Active", "Done", "Split", "Parked");

/** A closed set of names. */
export function names<const Names extends string[]>(...values: Names): Type.TEnum<Names> {
  return Type.Enum<Names>([...values]);
}
