// The command as a process of its own, for tests that read what it says, stop it or kill it.
import { spawn, type ChildProcess } from "node:child_process";
import { gossipScript } from "./gossip-bundle.fixture.ts";

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  /** Without the time, level and worker at the start of each line of its log. */
  readonly stderr: string;
  /** As it was written. */
  readonly log: string;
}

export interface GossipOptions {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Whom to run it as. Only the superuser may say so. */
  readonly uid?: number;
}

/** Longest wait for words. Never reached unless something is broken: the machine may be busy. */
const PATIENCE_MS = 60_000;

/** The time, level and worker at the start of a line. */
export const LOG_HEAD: RegExp = /^\d{4}-\d\d-\d\dT[\d:.]+Z (?:debug|info|warn|error) +[0-9a-f]{16} /gm;

export class GossipProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  #stdout: Buffer[] = [];
  #stderr = "";
  #onWords: (() => void) | undefined;

  constructor(script: string, args: readonly string[], { cwd, env, uid }: GossipOptions) {
    const user = uid === undefined ? {} : { uid, gid: uid };
    this.child = spawn(process.execPath, ["--no-warnings", script, ...args], {
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...cleanEnv(), ...env },
      ...user,
    });
    this.child.stdout!.on("data", (chunk: Buffer) => {
      this.#stdout.push(chunk);
      this.#onWords?.();
    });
    this.child.stderr!.on("data", (chunk: Buffer) => {
      this.#stderr += chunk.toString();
      this.#onWords?.();
    });
    this.ended = new Promise((resolve, reject) => {
      this.child.once("error", reject);
      this.child.once("close", (code, signal) => {
        resolve({
          code,
          signal,
          stdout: Buffer.concat(this.#stdout).toString(),
          stderr: this.stderr,
          log: this.#stderr,
        });
        this.#onWords?.();
      });
    });
  }

  get stderr(): string {
    return this.#stderr.replaceAll(LOG_HEAD, "");
  }

  /** What it has printed so far. */
  get stdout(): string {
    return Buffer.concat(this.#stdout).toString();
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Settles when it has said this, on stderr. */
  async said(words: RegExp): Promise<void> {
    const giveUpAt = Date.now() + PATIENCE_MS;
    while (!words.test(this.stderr)) {
      if (!this.isRunning || Date.now() > giveUpAt) throw new Error(`it never said ${words}: ${this.#stderr}`);
      await this.#news();
    }
  }

  /** Whether it says this, on stdout, before it ends. */
  async heard(words: RegExp): Promise<boolean> {
    const giveUpAt = Date.now() + PATIENCE_MS;
    while (!words.test(Buffer.concat(this.#stdout).toString())) {
      if (!this.isRunning) return false;
      if (Date.now() > giveUpAt) throw new Error(`it never said ${words}`);
      await this.#news();
    }
    return true;
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  async kill(): Promise<Ended> {
    this.child.kill("SIGKILL");
    return this.ended;
  }

  /** Settles when it says something or ends, and at the latest in a second. */
  #news(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, 1000);
      this.#onWords = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

export async function startGossip(args: readonly string[], options: GossipOptions): Promise<GossipProcess> {
  return new GossipProcess(await gossipScript(), args, options);
}

/** Run it to its end. */
export async function gossip(args: readonly string[], options: GossipOptions): Promise<Ended> {
  return (await startGossip(args, options)).ended;
}

/** Nothing from the environment of the tests. Their options for Node would load a compiler that the bundle does not need. */
function cleanEnv(): NodeJS.ProcessEnv {
  const { GOSSIP_STORE: _store, NO_COLOR: _color, FORCE_COLOR: _force, NODE_OPTIONS: _node, ...rest } = process.env;
  return rest;
}
