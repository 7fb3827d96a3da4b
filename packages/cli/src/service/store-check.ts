import { createInterface } from "node:readline";
import type { HealthSource } from "@gossip/server";
import type { HealthWire } from "@gossip/protocol";
import type { Cli, StoreFlags } from "../cli.ts";
import { startCommand } from "./own-command.ts";

/** Findings that a page shows. */
const MAX_FINDINGS = 200;

type Check = HealthWire["checks"][number];
type Fsck = HealthWire["fsck"];

const NEVER: Fsck = { state: "never", findings: [], isTruncated: false };

/**
 * `gossip doctor` and `gossip fsck` for the web console. Both run as processes of their own: reading a damaged embedded
 * store can end the process that reads it.
 */
export class StoreCheck implements HealthSource {
  readonly #cli: Cli;
  readonly #flags: StoreFlags;
  #checks: readonly Check[] = [];
  #fsck: Fsck = NEVER;
  #isRunning = false;

  constructor(cli: Cli, flags: StoreFlags) {
    this.#cli = cli;
    this.#flags = flags;
  }

  read(): HealthWire {
    const fsck = this.#isRunning ? { ...this.#fsck, state: "running" as const } : this.#fsck;
    return { checks: [...this.#checks], fsck };
  }

  start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    void this.#run().finally(() => (this.#isRunning = false));
  }

  async #run(): Promise<void> {
    const checks = await this.#lines(["doctor"]);
    this.#checks = checks.flatMap(checkOf);
    const lines = await this.#lines(["fsck"]);
    const found = lines.filter(({ kind }) => kind === "finding");
    const ended = lines.find(({ kind }) => kind === "checked");
    this.#fsck = {
      state: "done",
      atMs: Date.now(),
      isSound: ended !== undefined && ended["findingCount"] === 0,
      ...(ended === undefined ? {} : { runs: Number(ended["runCount"]), shards: Number(ended["shardCount"]) }),
      findings: ended === undefined ? [UNREADABLE] : found.slice(0, MAX_FINDINGS).map(findingOf),
      isTruncated: found.length > MAX_FINDINGS,
    };
  }

  /** The lines of a command, as JSON. */
  async #lines(args: readonly string[]): Promise<Record<string, unknown>[]> {
    const child = startCommand(this.#cli, this.#flags, args);
    const lines: Record<string, unknown>[] = [];
    for await (const line of createInterface({ input: child.stdout! })) {
      const json = parse(line);
      if (json !== undefined) lines.push(json);
    }
    return lines;
  }
}

const UNREADABLE = {
  kind: "Unreadable",
  message: "The store could not be checked.",
  advice: "Run `gossip fsck` in a terminal: it says why.",
};

function checkOf({ what, verdict, words }: Record<string, unknown>): Check[] {
  if (verdict !== "fine" && verdict !== "note" && verdict !== "problem") return [];
  return [{ what: String(what), verdict, words: String(words) }];
}

function findingOf({ finding, run, message, isRepairable }: Record<string, unknown>) {
  return {
    kind: String(finding),
    ...(typeof run === "string" ? { where: `run ${run}` } : {}),
    message: String(message),
    advice:
      isRepairable === true
        ? "`gossip fsck --repair` rebuilds it from the records."
        : "Restore a backup, or delete the run.",
  };
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
