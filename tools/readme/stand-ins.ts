// What a page writes, and what the test machine has in its place: servers, ports and the home folder.
import { freePort } from "../engines/index.ts";
import type { Engines } from "./engines.ts";

/** The folder that a page's commands seem to run in. */
const HOME = "/demo";
const LOOPBACK_PORT = /\b(127\.0\.0\.1|localhost):(\d{4,5})\b/g;

export interface StandIns {
  /** A page's code with addresses that work here. */
  toReal(code: string): string;
  /** The output of that code as the page would show it. */
  toPage(output: string): string;
  /** Call it when the page has ended. */
  release(): void;
}

export interface StandInOptions {
  /** Where the commands of the page run. */
  readonly folder: string;
  readonly engines: Engines;
}

export async function standIns(code: string, { folder, engines }: StandInOptions): Promise<StandIns> {
  const servers = await engines.open(code);
  const ports = new Map<string, string>();
  for (const [, , port] of code.matchAll(LOOPBACK_PORT))
    if (!ports.has(port!)) ports.set(port!, String(await freePort()));
  const pages = new Map([...ports].map(([page, real]) => [real, page]));
  const swapPorts = (text: string, table: ReadonlyMap<string, string>): string =>
    text.replaceAll(LOOPBACK_PORT, (_, host: string, port: string) => `${host}:${table.get(port) ?? port}`);
  return {
    // Servers last: they have ports, too.
    toReal: (text) => servers.toReal(swapPorts(text, ports)),
    toPage: (text) => swapPorts(servers.toPage(text), pages).replaceAll(folder, HOME),
    release: () => servers.release(),
  };
}
