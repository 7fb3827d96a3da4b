// A crawl that forgets a page, asks a busy server in a loop, or begins anew after a crash is worse than a shell loop.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { bundleExample, ExampleProcess } from "../example-process.fixture.ts";

let bundle: Awaited<ReturnType<typeof bundleExample>>;
let folder: string;
let processes: ExampleProcess[];

beforeAll(async () => {
  bundle = await bundleExample(import.meta.dirname);
});
afterAll(() => bundle.remove());
beforeEach(() => {
  processes = [];
  folder = mkdtempSync(join(tmpdir(), "gossip-crawl-"));
});
afterEach(async () => {
  for (const example of processes) await example.kill();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

function start(...args: string[]): ExampleProcess {
  const example = new ExampleProcess(bundle.script, { args, cwd: folder });
  processes.push(example);
  return example;
}

function output(): {
  readonly address: string;
  readonly status?: number;
  readonly title?: string;
  readonly error?: string;
}[] {
  const lines = readFileSync(join(folder, "pages.ndjson"), "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as ReturnType<typeof output>[number]);
}

function countIn(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].length;
}

function linesDone({ text }: ExampleProcess): number {
  return Number(/^(\d+) lines are done/m.exec(text)?.[1]);
}

test("busy pages are asked again, a broken one is parked and shown, and the rest follows when it is mended", async () => {
  const manifest = join(import.meta.dirname, "manifest.txt");
  const addresses = readFileSync(manifest, "utf8").trimEnd().split("\n");
  const busy = addresses.filter((address) => address.startsWith("/busy/"));

  const first = start("--manifest", manifest);
  expect(await first.ended, first.text).toEqual({ code: 1, signal: null });
  expect(first.lines).toContain("/broken/58 answered 500; given up, and its shard is parked");
  expect(countIn(first.text, /^\/broken\/58 answered 500; again in/gm)).toBe(3);
  expect(countIn(first.text, /^left: shard \d+, .*: parked, Poisoned$/gm)).toBe(1);
  expect(linesDone(first)).toBeLessThan(addresses.length);
  expect(readdirSync(folder)).not.toContain("pages.ndjson");

  const second = start("--manifest", manifest, "--mended");
  expect(await second.ended, second.text).toEqual({ code: 0, signal: null });
  expect(second.lines).toContain("going on; 1 parked shards were brought back");
  expect(linesDone(first) + linesDone(second)).toBe(addresses.length);

  const asked = `${first.text}\n${second.text}`;
  for (const address of busy)
    expect(countIn(asked, new RegExp(`^${address} answered 503; again in`, "gm")), address).toBeGreaterThanOrEqual(2);
  // A second, which the first answer of each asks for, and the pause of our own: none is asked again sooner.
  for (const address of busy)
    expect(
      countIn(asked, new RegExp(`^${address} answered 503; again in [1-9]\\d{3} ms`, "gm")),
      address,
    ).toBeGreaterThanOrEqual(1);
  expect(output()).toEqual(addresses.map(expectedRecord));
  expect(readdirSync(folder)).toEqual(["pages.ndjson"]);
});

function expectedRecord(address: string): object {
  const [, kind, number] = address.split("/");
  return kind === "gone" ? { address, status: 404 } : { address, status: 200, title: `Page ${number}` };
}

test("killed half-way, it goes on behind what was stored, and asks for eight pages at once, never for more", async () => {
  const site = await startCountingSite();
  try {
    const addresses = Array.from({ length: 200 }, (_, index) => `${site.url}/${index}`);
    writeFileSync(join(folder, "mine.txt"), [...addresses, "", "http://", ""].join("\r\n"));

    // The site falls silent before a shard can be done, so the crawl is in the middle of two when it is killed.
    site.answersLeft = 20;
    const first = start("--manifest", "mine.txt");
    await first.line(/^stored \d+ lines/);
    await site.silence;
    await first.kill();
    const stored = [...first.text.matchAll(/^stored (\d+) lines/gm)].reduce((sum, match) => sum + Number(match[1]), 0);

    site.answersLeft = Infinity;
    site.visits = 0;
    const second = start("--manifest", "mine.txt");
    expect(await second.ended, second.text).toEqual({ code: 0, signal: null });
    expect(site.visits).toBeLessThanOrEqual(addresses.length - stored);
    expect(output()).toEqual([
      ...addresses.map((address) => ({ address, status: 200 })),
      { address: "http://", error: "not an address" },
    ]);
    expect(site.mostAtOnce).toBe(8);
    expect(readdirSync(folder).sort()).toEqual(["mine.txt", "pages.ndjson"]);
  } finally {
    await site.close();
  }
});

interface CountingSite {
  readonly url: string;
  readonly mostAtOnce: number;
  /** Resolves when eight visitors are kept waiting. */
  readonly silence: Promise<void>;
  answersLeft: number;
  visits: number;
  close(): Promise<void>;
}

async function startCountingSite(): Promise<CountingSite> {
  const waiting = new Set<ServerResponse>();
  let fallSilent = (): void => undefined;
  const silence = new Promise<void>((resolve) => (fallSilent = resolve));
  const answer = (response: ServerResponse): void => {
    // Before it is sent: the client may come back at once.
    waiting.delete(response);
    response.end("a page without a title");
  };
  const server: Server = createServer((_request, response) => {
    waiting.add(response);
    response.once("close", () => waiting.delete(response));
    site.mostAtOnce = Math.max(site.mostAtOnce, waiting.size);
    site.visits++;
    // Not at once, so that visitors meet.
    if (site.answersLeft-- > 0) setTimeout(answer, 2, response);
    else if (waiting.size === 8) fallSilent();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const site = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mostAtOnce: 0,
    silence,
    answersLeft: Infinity,
    visits: 0,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return site;
}
