import { parseArgs } from "node:util";

export const USAGE = `npm run explore [-- --minutes N]

  --minutes N   for how long new rounds begin (10)`;

const DEFAULT_MINUTES = 10;

/** Returns `undefined` if the arguments are not as `USAGE` says. */
export function parseMinutes(args: readonly string[]): number | undefined {
  try {
    const { values } = parseArgs({ args: [...args], options: { minutes: { type: "string" } } });
    const minutes = values.minutes === undefined ? DEFAULT_MINUTES : Number(values.minutes);
    return minutes > 0 && Number.isFinite(minutes) ? minutes : undefined;
  } catch {
    return undefined;
  }
}
