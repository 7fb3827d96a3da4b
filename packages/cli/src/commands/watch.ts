import { setTimeout as wait } from "node:timers/promises";
import { createLogUpdate } from "log-update";
import { ok, type Result } from "@gossip/stdx";
import type { Cli, CommandResult } from "../cli.ts";
import type { CliError } from "../output/cli-error.ts";
import { formatCount } from "../output/number-words.ts";
import { maskCredentials } from "@gossip/insight";
import { stopSignal } from "../stop-signal.ts";
import { readIntervalMs } from "./number-options.ts";

/** What a command shows at one time. */
export interface Screen {
  readonly lines: readonly string[];
  /** The same for programs: one line each. */
  readonly json: readonly object[];
  /** Nothing will change any more. */
  readonly isFinal?: boolean;
}

export type ReadScreen = () => Promise<Result<Screen, CliError>>;

const DEFAULT_WATCH_MS = 1000;

/** Parse `--watch [seconds]`. `undefined` if it was not given. */
export function readWatch(watch: string | true | undefined): Result<number | undefined, CliError> {
  if (watch === undefined) return ok(undefined);
  return watch === true ? ok(DEFAULT_WATCH_MS) : readIntervalMs("--watch", watch);
}

/** Show it once. If `everyMs` is given, again and again until it is final, or until Ctrl-C. */
export function showScreen(cli: Cli, everyMs: number | undefined, read: ReadScreen): Promise<CommandResult> {
  return everyMs === undefined ? once(cli, read) : watch(cli, everyMs, read);
}

async function once(cli: Cli, read: ReadScreen): Promise<CommandResult> {
  const shown = await read();
  if (!shown.ok) return shown;
  print(cli, shown.value);
  return ok("Ok");
}

function print({ console }: Cli, { lines, json }: Screen): void {
  if (console.isJson) for (const each of json) console.json(each);
  else console.lines(lines);
}

/** In a terminal in place, elsewhere one screen after the other. */
async function watch(cli: Cli, everyMs: number, read: ReadScreen): Promise<CommandResult> {
  const { console } = cli;
  const stop = stopSignal(cli);
  const draw =
    console.canRedraw(console.stdout) && !console.isJson
      ? createLogUpdate(console.stdout as unknown as NodeJS.WritableStream)
      : undefined;
  try {
    while (!stop.signal.aborted) {
      const shown = await read();
      if (!shown.ok) return shown;
      if (draw === undefined) print(cli, shown.value);
      else draw(fitted(cli, shown.value.lines.map(maskCredentials)).join("\n"));
      if (shown.value.isFinal === true) break;
      await wait(everyMs, undefined, { signal: stop.signal }).catch(() => {});
    }
    return ok("Ok");
  } finally {
    draw?.done();
    stop.dispose();
  }
}

/** As many lines as the terminal has room for. */
function fitted({ console }: Cli, lines: readonly string[]): readonly string[] {
  const room = Math.max(2, (console.stdout.rows || 24) - 1);
  if (lines.length <= room) return lines;
  return [...lines.slice(0, room - 1), `… and ${formatCount(lines.length - room + 1)} more`];
}
