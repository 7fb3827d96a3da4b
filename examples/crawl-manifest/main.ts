// node main.ts [--manifest FILE] [--site URL] [--out FILE] [--mended]
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { crawl } from "./crawl.ts";
import { startSite } from "./site.ts";

const { values } = parseArgs({
  options: {
    /** A line each: an address, or a path of the site. */
    manifest: { type: "string", default: join(import.meta.dirname, "manifest.txt") },
    /** What paths are relative to. Without it the example starts a site of its own. */
    site: { type: "string" },
    out: { type: "string", default: "pages.ndjson" },
    /** Whether the example's own site has got its broken page mended. */
    mended: { type: "boolean", default: false },
  },
});

const ownSite = values.site === undefined ? await startSite({ isMended: values.mended }) : undefined;
const site = values.site ?? ownSite!.url;
process.exitCode = await crawl({ manifest: resolve(values.manifest), site, out: resolve(values.out) });
await ownSite?.close();
