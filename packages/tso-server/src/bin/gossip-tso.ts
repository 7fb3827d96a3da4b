#!/usr/bin/env node
import { FileDriver } from "../file/file-driver.ts";
import { parseCommand, USAGE, type UsageError } from "./arguments.ts";
import { serve } from "./serve.ts";

const WRONG_USAGE = 2;

process.exitCode = await main();

async function main(): Promise<number> {
  const command = parseCommand(process.argv.slice(2));
  if (!command.ok) return refuse(command.error);
  switch (command.value.kind) {
    case "help":
      process.stdout.write(USAGE);
      return 0;
    case "init":
      return report(await FileDriver.initialize(command.value));
    case "serve":
      return report(
        await serve(command.value, {
          say: (line) => process.stdout.write(`${line}\n`),
          onStop: stopOnSignals,
          onReload: (reload) => process.on("SIGHUP", reload),
        }),
      );
  }
}

function refuse({ message }: UsageError): number {
  process.stderr.write(`gossip-tso: ${message}\n\n${USAGE}`);
  return WRONG_USAGE;
}

function stopOnSignals(stop: () => void): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop);
}

function report(
  result: { readonly ok: true } | { readonly ok: false; readonly error: UsageError | { readonly kind: string } },
): number {
  if (result.ok) return 0;
  if ("message" in result.error && result.error.kind === "Usage") return refuse(result.error);
  process.stderr.write(
    `gossip-tso: ${JSON.stringify(result.error, (_, value: unknown) => (typeof value === "bigint" ? value.toString() : value))}\n`,
  );
  return 1;
}
