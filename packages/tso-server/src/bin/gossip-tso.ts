#!/usr/bin/env node
import { FileDriver } from "../file/file-driver.ts";
import { parseCommand, USAGE } from "./arguments.ts";
import { serve } from "./serve.ts";

const WRONG_USAGE = 2;

process.exitCode = await main();

async function main(): Promise<number> {
  const command = parseCommand(process.argv.slice(2));
  if (!command.ok) {
    process.stderr.write(`gossip-tso: ${command.error.message}\n\n${USAGE}`);
    return WRONG_USAGE;
  }
  switch (command.value.kind) {
    case "help":
      process.stdout.write(USAGE);
      return 0;
    case "init":
      return report(await FileDriver.initialize(command.value));
    case "serve":
      return report(
        await serve(command.value, { say: (line) => process.stdout.write(`${line}\n`), onStop: stopOnSignals }),
      );
  }
}

function stopOnSignals(stop: () => void): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop);
}

function report(result: { readonly ok: true } | { readonly ok: false; readonly error: object }): number {
  if (result.ok) return 0;
  process.stderr.write(
    `gossip-tso: ${JSON.stringify(result.error, (_, value: unknown) => (typeof value === "bigint" ? value.toString() : value))}\n`,
  );
  return 1;
}
