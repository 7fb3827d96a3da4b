// Debian's Chromium, driven over its own protocol. `.ci/run` installs it.
import { existsSync } from "node:fs";
import { chromium, type Browser, type Page } from "playwright-core";
import { skippedFor } from "../engines/skipped-for.ts";

export type { Browser, Page };

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export interface BrowserOptions {
  /** More flags for the browser. */
  readonly args?: readonly string[];
}

function browserPath(): string | undefined {
  return [process.env["GOSSIP_BROWSER"], ...PLACES].find((path) => path !== undefined && existsSync(path));
}

/** Why tests in a browser are skipped here, printed as a warning; `undefined` if they run. */
export function browserSkipped(): string | undefined {
  const missing =
    browserPath() === undefined ? "no browser is installed (Debian: apt-get install chromium)" : undefined;
  return skippedFor(missing);
}

/** Start a browser without a window. The caller closes it. */
export async function openBrowser({ args = [] }: BrowserOptions = {}): Promise<Browser> {
  return chromium.launch({
    executablePath: browserPath()!,
    // The sandbox of Chromium refuses to run as root.
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--font-render-hinting=none", ...args],
  });
}
