#!/usr/bin/env node
import type { Cli } from "../cli.ts";
import { takeSecrets } from "../exec/secret-variables.ts";
import { main } from "../main.ts";
import { Console } from "../output/console.ts";
import { EXIT_CODES } from "../output/exit-codes.ts";
import { finishWriting } from "../output/finish-writing.ts";
import { guardEnd } from "./last-resort.ts";

const { stdout, stderr } = process;
// Modules and their child processes share the environment of this process.
const env = takeSecrets(process.env);
const onOutputLost = new Set<() => void>();
const beforeExit = new Set<() => Promise<void>>();
/** How long an immediate exit waits for what has to be closed first. */
const MAX_CLOSE_MS = 5_000;
/** The exit code of an immediate exit, once there is one. */
let endingWith: number | undefined;

const cli: Cli = {
  console: new Console({ stdout, stderr, env }),
  env,
  cwd: process.cwd(),
  // Opened only if it is read.
  get stdin() {
    return process.stdin;
  },
  exit: "Ok",
  onSignal(name, listener) {
    process.on(name, listener);
    return () => void process.off(name, listener);
  },
  onOutputLost(listener) {
    onOutputLost.add(listener);
    return () => void onOutputLost.delete(listener);
  },
  beforeExit(close) {
    beforeExit.add(close);
    return () => void beforeExit.delete(close);
  },
  exitNow(exit) {
    if (endingWith !== undefined) return;
    endingWith = EXIT_CODES[exit].code;
    const leave = (): never => process.exit(endingWith);
    setTimeout(leave, MAX_CLOSE_MS);
    void Promise.allSettled([...beforeExit].map((close) => close())).then(leave);
  },
};

stdout.on("error", ({ code = "for an unknown reason" }: NodeJS.ErrnoException) => {
  if (endingWith !== undefined) return;
  for (const listener of onOutputLost) listener();
  // The reader may have seen enough, as in `gossip runs | head`. The results of a run, though, would be lost.
  if (code === "EPIPE") return cli.exitNow(onOutputLost.size === 0 ? "Ok" : "OutputFailed");
  const message = `the output cannot be written (${code}): make room where it goes, then run the same command again.`;
  return cli.exitNow(cli.console.fail({ kind: "OutputFailed", message }));
});
// Only messages go to stderr. The work continues without a reader.
stderr.on("error", () => {});

guardEnd(process, cli);
void main(process.argv.slice(2), cli).then(async (code) => {
  await finishWriting([stdout, stderr]);
  // Exit explicitly: a module may have left handles open, and everything of ours is closed.
  process.exit(endingWith ?? code);
});
