export { ERROR_KINDS, type CliError, type CliErrorKind } from "./output/cli-error.ts";
export { EXIT_CODES, type ExitName } from "./output/exit-codes.ts";
