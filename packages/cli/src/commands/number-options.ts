import { ok, type Result } from "@gossip/stdx";
import { fail, type CliError } from "../output/cli-error.ts";

const MAX_COUNT = 1_000_000_000;
/** A tenth of a second to a day. */
const [MIN_INTERVAL_S, MAX_INTERVAL_S] = [0.1, 86_400];

/** Read a whole number in decimal digits: no sign, no space, no exponent. */
export function readCount(
  option: string,
  text: string,
  { min, max }: { readonly min: number; readonly max: number } = { min: 1, max: MAX_COUNT },
): Result<number, CliError> {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
  return value >= min && value <= max
    ? ok(value)
    : fail("BadCommandLine", `${option} is not a whole number from ${min} to ${max}: correct it.`);
}

/** Read how long to wait between two looks, in seconds. */
export function readIntervalMs(option: string, text: string): Result<number, CliError> {
  const value = /^\d{1,9}(?:\.\d{1,9})?$/.test(text) ? Number(text) : NaN;
  return value >= MIN_INTERVAL_S && value <= MAX_INTERVAL_S
    ? ok(Math.round(value * 1000))
    : fail(
        "BadCommandLine",
        `${option} is not a number of seconds from ${MIN_INTERVAL_S} to ${MAX_INTERVAL_S}: correct it.`,
      );
}
