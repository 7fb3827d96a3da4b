#!/usr/bin/env node
import type { Cli } from "../cli.ts";
import { main } from "../main.ts";
import { Console } from "../output/console.ts";
import { EXIT_CODES } from "../output/exit-codes.ts";

const { stdout, stderr, env } = process;

// Whoever reads may have seen enough: `gossip runs | head`.
for (const stream of [stdout, stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(EXIT_CODES.Ok.code);
  });
}

const cli: Cli = {
  console: new Console({ stdout, stderr, env }),
  env,
  cwd: process.cwd(),
  exit: "Ok",
  onSignal(name, listener) {
    process.on(name, listener);
    return () => void process.off(name, listener);
  },
  exitNow: (exit) => process.exit(EXIT_CODES[exit].code),
};

// Not left to end by itself: a module may have left something open, and everything of ours is closed.
process.exit(await main(process.argv.slice(2), cli));
