import { InfraError } from "./infra-error.ts";

declare const driver: { readonly message: string; readonly code: string };
declare const needed: number;
declare const field: "cursor" | "spec";
const operation = "acquire.loadShard";

InfraError.transient({ operation, message: "the connection was lost", code: driver.code, cause: driver });
InfraError.corruption({ operation, message: `the ${field} is cut short: it needs ${needed} bytes` });

// @ts-expect-error a driver's text may quote rows
InfraError.transient({ operation, message: driver.message });
// @ts-expect-error a driver's text may quote rows, wherever in the sentence it stands
InfraError.transient({ operation, message: `the store said ${driver.message}` });
// @ts-expect-error a driver's text may quote rows, wherever in the sentence it stands
InfraError.transient({ operation, message: `${driver.message}, said the store` });
// @ts-expect-error a label is fixed too
InfraError.transient({ operation: `acquire.${driver.code}`, message: "the connection was lost" });
