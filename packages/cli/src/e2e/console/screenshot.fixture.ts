// Pictures for the README and the guide. `GOSSIP_SCREENSHOTS=1` writes them to docs/images.
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Page } from "@gossip/tools/browser";

const FOLDER = fileURLToPath(new URL("../../../../../docs/images/", import.meta.url));
export const TAKES_PICTURES: boolean = process.env["GOSSIP_SCREENSHOTS"] === "1";

/** Write what the window shows. WebP: a third of the size of PNG. */
export async function screenshot(page: Page, name: string): Promise<void> {
  if (!TAKES_PICTURES) return;
  const session = await page.context().newCDPSession(page);
  const { data } = (await session.send("Page.captureScreenshot", { format: "webp", quality: 66 })) as {
    readonly data: string;
  };
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(`${FOLDER}${name}.webp`, Buffer.from(data, "base64"));
}
