// Progress as users see it, on real runs: three trees, a manifest with a heavy head, a table. Once a tenth of the work is
// done, the fraction is within ten points of the truth and never decreases, and the time left is within a third of what
// it turns out to be, or unknown. `accuracy.test.ts` has the same bound in simulated time.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { assert } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";
import { startPostgres, type PostgresServer } from "@gossip/tools/engines";
import { query } from "../e2e/newer-version.fixture.ts";
import { BenchFolder, IS_SMOKE } from "./bench-command.fixture.ts";
import { watchedRun, type Agreement } from "./watched-run.fixture.ts";

const SECONDS = IS_SMOKE ? 3 : 30;
const MAX_FRACTION_ERROR = 0.1;
const MAX_TIME_ERROR = 1 / 3;

let folder: BenchFolder;
let server: PostgresServer;
const found = new Map<string, Agreement>();

/** Once is enough: what is compared is not the time that it takes. */
async function watch(name: string, source: string, items: number): Promise<void> {
  if (found.has(name)) return;
  const agreement = await watchedRun(folder.path, { source, items, seconds: SECONDS });
  found.set(name, agreement);
  // At once: a bench that is interrupted has still measured something.
  if (!IS_SMOKE) report(name, agreement);
}

/** A tree by its path, with as many files as it has. */
async function watchTree(name: string, root: string): Promise<void> {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;
  await watch(name, `fs:${root}`, files);
}

const PACKAGES = fileURLToPath(new URL(IS_SMOKE ? "../" : "../../../../node_modules/", import.meta.url));
const SYSTEM = IS_SMOKE || !existsSync("/usr/share") ? fileURLToPath(new URL("../", import.meta.url)) : "/usr/share";

compare("progress that is reported, compared with the truth", {
  async before() {
    folder = new BenchFolder();
    makeSkewedTree(join(folder.path, "skewed"), IS_SMOKE ? 500 : 20_000);
    writeFileSync(join(folder.path, "rows"), heavyHead(IS_SMOKE ? 1000 : 20_000));
    server = await startPostgres({ settings: { fsync: "off" } });
    makeTable(server.url, IS_SMOKE ? 1000 : 20_000);
  },
  async after() {
    await server.dispose();
    folder.remove();
    if (IS_SMOKE) return;
    const missed = [...found].flatMap(([name, each]) => missedBounds(each).map((bound) => `${name}: ${bound}`));
    assert(missed.length === 0, () => missed.join("; "));
  },
  forms: {
    "installed packages": () => watchTree("installed packages", PACKAGES),
    "shared files of the system": () => watchTree("shared files of the system", SYSTEM),
    "a skewed tree": () => watchTree("a skewed tree", join(folder.path, "skewed")),
    "a manifest with a heavy head": () =>
      watch("a manifest with a heavy head", `lines:${join(folder.path, "rows")}`, IS_SMOKE ? 1000 : 20_000),
    "a table": () => watch("a table", `${server.url}#numbers`, IS_SMOKE ? 1000 : 20_000),
  },
  options: { rounds: 1, sampleMs: 1, warmMs: 0, measureHeap: false },
});

function report(name: string, { items, samples, withFraction, withTime, worstFraction, worstTime }: Agreement): void {
  process.stdout.write(
    `  ${name}: ${items} items, ${samples} samples; ${withFraction} with a fraction, at most ${(100 * worstFraction).toFixed(1)} points off; ${withTime} with a time left, at most ${(100 * worstTime).toFixed(0)} % off\n`,
  );
}

function missedBounds({ worstFraction, worstTime, decreases }: Agreement): string[] {
  return [
    ...(decreases === 0 ? [] : [`the fraction decreased ${decreases} times`]),
    ...(worstFraction <= MAX_FRACTION_ERROR ? [] : [`the fraction was off by ${worstFraction}`]),
    ...(worstTime <= MAX_TIME_ERROR ? [] : [`the time left was off by ${worstTime} of the truth`]),
  ];
}

/** Nearly all files are in two of many folders. */
function makeSkewedTree(root: string, files: number): void {
  for (let index = 0; index < files; index++) {
    const place = index % 100 < 60 ? `m/deep/${index % 7}` : index % 100 < 98 ? "z/flat" : `folder-${index}`;
    mkdirSync(join(root, place), { recursive: true });
    writeFileSync(join(root, place, `file-${index}`), "");
  }
}

/** One line in twenty has two thousand bytes, and these come first. */
function heavyHead(lines: number): string {
  return Array.from({ length: lines }, (_, index) => `${index}${"x".repeat(index < lines / 20 ? 2000 : 0)}\n`).join("");
}

function makeTable(url: string, rows: number): void {
  query(url, "CREATE TABLE numbers (id bigint PRIMARY KEY)");
  query(url, `INSERT INTO numbers SELECT n::bigint * n FROM generate_series(1, ${rows}) n`);
  query(url, "ANALYZE numbers");
}
