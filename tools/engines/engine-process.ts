// A server process of ours: started, watched until it is ready, stopped by its pid.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";

export interface EngineCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Some servers refuse to run as root; then they run as this user. */
  readonly uid?: number;
  readonly gid?: number;
  /** What the server prints when it takes connections. */
  readonly readyWhen: RegExp;
}

/** How long a server may take to come up. Generous: the machine may be busy. */
const READY_WITHIN_MS = 60_000;

export interface EngineProcess {
  readonly pid: number;
  /** Ask it to end, with `SIGTERM` where no other signal is given, and wait until it has. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** End it at once, as a crash would, and wait until it is gone. */
  kill(): Promise<void>;
}

/** Start the server; settles when it is ready, rejects with what it printed when it ends before that. */
export async function startProcess(command: EngineCommand): Promise<EngineProcess> {
  const { file, args, env, uid, gid, readyWhen } = command;
  const child = spawn(file, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid }),
  });
  const onExit = (): boolean => child.kill("SIGKILL");
  process.once("exit", onExit);
  child.once("exit", () => process.off("exit", onExit));
  await untilReady(child, readyWhen, file);
  // The rest is not needed, but a full pipe would stop the server.
  child.stdout?.resume();
  child.stderr?.resume();
  return {
    pid: child.pid!,
    stop: (signal = "SIGTERM") => end(child, signal),
    kill: () => end(child, "SIGKILL"),
  };
}

async function untilReady(child: ChildProcess, readyWhen: RegExp, name: string): Promise<void> {
  let printed = "";
  let overdue: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve, reject) => {
    overdue = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`${name} was not ready within ${READY_WITHIN_MS} ms:\n${printed}`));
    }, READY_WITHIN_MS);
    const onData = (chunk: Buffer): void => {
      printed = (printed + chunk.toString("utf8")).slice(-20_000);
      if (readyWhen.test(printed)) resolve();
    };
    child.stdout?.on("data", onData);
    child.stderr?.on("data", onData);
    child.once("error", reject);
    // Not on `exit`: the last of its output may come after that.
    child.once("close", (code) =>
      reject(new Error(`${name} ended with code ${code} before it was ready:\n${printed}`)),
    );
  }).finally(() => clearTimeout(overdue));
  child.stdout?.removeAllListeners("data");
  child.stderr?.removeAllListeners("data");
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill(signal);
  await gone;
}
