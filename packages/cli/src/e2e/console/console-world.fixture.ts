// A store, `gossip console` on it as a process, and a real browser in front of it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Coordinator, systemClock } from "@gossip/coordination";
import { openLmdbStore, type LmdbStore } from "@gossip/coordination-lmdb";
import { unwrap } from "@gossip/stdx";
import { buildConsole, openBrowser, type Browser, type Page } from "@gossip/tools/browser";
import { freePort } from "@gossip/tools/engines";
import { startGossip, type GossipProcess } from "../../processes/gossip-process.fixture.ts";

export interface WorldOptions {
  /** Whether the page may change things. */
  readonly canOperate?: boolean;
}

export interface PageOptions {
  readonly theme?: "light" | "dark";
  readonly width?: number;
  readonly height?: number;
}

export class ConsoleWorld {
  readonly folder: string;
  readonly store: LmdbStore;
  readonly coordinator: Coordinator;
  readonly browser: Browser;
  readonly port: number;
  /** What went wrong in a page: errors, and everything that the content security policy refused. */
  readonly complaints: string[] = [];
  readonly #canOperate: boolean;
  #server: GossipProcess | undefined;

  static async start({ canOperate = true }: WorldOptions = {}): Promise<ConsoleWorld> {
    await buildConsole();
    const folder = mkdtempSync(join(tmpdir(), "gossip-console-"));
    const store = unwrap(await openLmdbStore({ path: join(folder, "store") }));
    const [browser, port] = [await openBrowser(), await freePort()];
    const world = new ConsoleWorld({ folder, store, browser, port }, canOperate);
    await world.serve();
    return world;
  }

  private constructor(parts: Pick<ConsoleWorld, "folder" | "store" | "browser" | "port">, canOperate: boolean) {
    this.folder = parts.folder;
    this.store = parts.store;
    this.browser = parts.browser;
    this.port = parts.port;
    this.#canOperate = canOperate;
    const limits = { maxShardsPerTenant: 1_100_000, maxShardsTotal: 1_100_000 };
    this.coordinator = new Coordinator({ store: this.store, clock: systemClock(Date.now), limits });
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/console/`;
  }

  /** Start the server, at the same address as before. */
  async serve(): Promise<void> {
    const flags = ["--listen", `127.0.0.1:${this.port}`, ...(this.#canOperate ? ["--operate"] : [])];
    this.#server = await this.gossip("console", ...flags);
    if (!(await this.#server.heard(/The console is at/))) throw new Error((await this.#server.ended).log);
  }

  /** Kill the server. Requests in progress get no answer. */
  async killServer(): Promise<void> {
    await this.#server?.kill();
    this.#server = undefined;
  }

  /** A command on the same store, as a process. */
  gossip(...args: string[]): Promise<GossipProcess> {
    return startGossip([...args, "--store", "store"], { cwd: this.folder });
  }

  /** Open a page of the console in a session of its own. The caller closes its context. */
  async open(hash: string, { theme = "light", width = 1280, height = 800 }: PageOptions = {}): Promise<Page> {
    const viewport = { width, height };
    const context = await this.browser.newContext({ colorScheme: theme, viewport, reducedMotion: "reduce" });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    page.on("pageerror", (error) => this.complaints.push(error.message));
    page.on("console", (message) => {
      // A server that is down is a part of some tests; the browser logs each failed request.
      const isOurs = message.type() === "error" && !message.text().startsWith("Failed to load resource");
      if (isOurs) this.complaints.push(message.text());
    });
    await page.goto(`${this.url}${hash}`);
    return page;
  }

  async stop(): Promise<void> {
    await this.browser.close();
    await this.killServer();
    await this.store.close();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Longest wait for something on a page. Never reached unless something is broken: the machine may be busy. */
const PATIENCE_MS = 60_000;
