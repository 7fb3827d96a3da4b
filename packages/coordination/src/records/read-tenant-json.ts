import { TenantId } from "@gossip/contracts";
import { type JsonReader } from "@gossip/contracts/internal";
import { err } from "@gossip/stdx";

export const readTenantJson: JsonReader<TenantId> = (json, field) => {
  const tenant = TenantId.parse(json as string);
  return tenant.ok ? tenant : err({ kind: "InvalidField", field, expected: "64 lowercase hex digits" });
};
