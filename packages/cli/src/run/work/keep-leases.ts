import { writeSync } from "node:fs";
import { isatty } from "node:tty";
import type { KeeperStore } from "@gossip/worker";
import { keyCodecOf, showKey } from "@gossip/insight";
import { Log, type LogFormat, type LogLevel } from "../../logging/log.ts";
import { openStore } from "../../store-url/open-store.ts";
import type { OracleAddress } from "../../store-url/oracle-clock.ts";
import { BlockedLoopGuard } from "./blocked-loop.ts";
import { onTerminalInterrupt } from "./terminal-interrupt.ts";
import type { StoreAddress } from "../../store-url/store-address.ts";

/** What the thread needs to open the same store as the process. */
export interface KeepLeasesOptions {
  readonly address: StoreAddress;
  readonly tso: OracleAddress | undefined;
  /** The identity of the source, for the form of its keys. */
  readonly source?: string;
  /** How long items may continue after Ctrl-C. */
  readonly graceMs?: number;
  /** The log of the process, unless it shows a view in a terminal. */
  readonly log?: { readonly level: LogLevel; readonly format: LogFormat; readonly worker: string };
}

/** Called in a thread that renews leases while this process is busy. */
export async function openKeeperStore(options: KeepLeasesOptions): Promise<KeeperStore> {
  const { address, tso, source, graceMs = 0, log } = options;
  const opened = await openStore({ address, tso, mustExist: true });
  if (!opened.ok) throw new Error(opened.error.message);
  const { direct, coordinator, clock, close } = opened.value;
  const codec = keyCodecOf(source);
  const guard = new BlockedLoopGuard({
    describeKey: (key) => showKey(key, codec),
    graceMs,
    print: log === undefined ? printNow : logNow(log),
    listen: onTerminalInterrupt,
    // In a thread, `process.exit` ends only the thread.
    end: () => process.kill(process.pid, "SIGKILL"),
    startTimer: (ms, callback) => {
      const timer = setTimeout(callback, ms);
      return () => clearTimeout(timer);
    },
  });
  return {
    ...(direct === undefined ? { coordinator } : { store: direct.store, clock }),
    onBlocked: (blocked) => guard.onBlocked(blocked),
    onUnblocked: () => guard.onUnblocked(),
    close: async () => {
      guard.onUnblocked();
      await close();
    },
  };
}

/** Print without the main thread, whose event loop is blocked. A terminal's view is drawn again below the line. */
function printNow(line: string): void {
  writeNow(isatty(2) ? `\r\u001b[K${line}\r\n` : `${line}\n`);
}

function logNow(settings: NonNullable<KeepLeasesOptions["log"]>): (line: string) => void {
  const log = new Log({ ...settings, write: writeNow });
  return (line) => log.line("warn", line, { kind: "blocked" });
}

function writeNow(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    // The reader is gone or slow. The line is not worth waiting for it.
  }
}

export { openKeeperStore as openStore };
