export { assert, InvariantViolation } from "./assert.ts";
export type { Brand } from "./brand.ts";
export { compareBytes, equalBytes, startsWith } from "./compare-bytes.ts";
export { matchError, type ErrorHandlers } from "./match-error.ts";
export { Redacted } from "./redacted.ts";
export { err, ok, type Err, type Ok, type Result } from "./result.ts";
export { unwrap } from "./unwrap.ts";
