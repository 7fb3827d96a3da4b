// An operator who cannot use a mouse, tell red from green, or read small gray text needs the same answers as everyone
// else, on every page.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { RunId, TenantId } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import { axeFindings, browserSkipped, type Page } from "@gossip/tools/browser";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ConsoleWorld } from "./console-world.fixture.ts";
import { servePathPrefix } from "./path-prefix.fixture.ts";
import { screenshot } from "./screenshot.fixture.ts";
import { seedRun, workOn } from "./seed-run.fixture.ts";

const skipped = browserSkipped();
const SHARDS = 48;
let world: ConsoleWorld;
let run: string;
/** A run of the command, with failures. */
let realRun: string;

beforeAll(async () => {
  if (skipped !== undefined) return;
  world = await ConsoleWorld.start();
  const seeded = await seedRun(world.coordinator, { run: 0xa1n, shardCount: SHARDS });
  await workOn(world.coordinator, seeded, SHARDS);
  run = RunId.format(seeded);
  await seedRun(world.coordinator, { run: 0xa2n, shardCount: 4 });
  realRun = await runWithFailures();
});
afterAll(() => world?.stop());

/** A real run over 200 rows, of which four fail. */
async function runWithFailures(): Promise<string> {
  writeFileSync(join(world.folder, "rows"), Array.from({ length: 200 }, (_, row) => `row ${row}\n`).join(""));
  const exec = "case {} in *77*|*13) echo the row is broken >&2; exit 1;; esac";
  const ended = await (await world.gossip("run", "--source", "lines:rows", "--exec", exec, "--json")).ended;
  const { items } = unwrap(await world.coordinator.listRuns({ tenant: TenantId.ZERO }));
  const found = items.map(({ run: id }) => RunId.format(id)).find((id) => id !== run && !id.endsWith("a2"));
  if (found === undefined) throw new Error(`there is no run: ${ended.log}`);
  return found;
}

const PAGES = [
  { name: "runs", hash: () => "#/runs", ready: (page: Page) => page.getByRole("link", { name: run }) },
  {
    name: "run",
    hash: () => `#/runs/${run}`,
    ready: (page: Page) => page.getByText(`Table: ${SHARDS} shards in this part`),
  },
  {
    name: "finished-run",
    hash: () => `#/runs/${realRun}`,
    ready: (page: Page) => page.getByText("the row is broken").first(),
  },
  {
    name: "shard",
    hash: () => `#/runs/${run}/shards/${"17".padStart(16, "0")}`,
    ready: (page: Page) => page.getByText("Range and progress"),
  },
  { name: "workers", hash: () => "#/workers", ready: (page: Page) => page.getByText("No one is working on this run") },
  { name: "scopes", hash: () => "#/scopes", ready: (page: Page) => page.getByText("One node owns everything") },
  { name: "events", hash: () => "#/events", ready: (page: Page) => page.getByRole("button", { name: "Pause" }) },
  {
    name: "health",
    hash: () => "#/health",
    ready: (page: Page) => page.getByRole("heading", { name: "Checks", exact: true }),
  },
  { name: "nowhere", hash: () => "#/elsewhere", ready: (page: Page) => page.getByText("There is no such page") },
];

test("the store is checked when an operator asks for it", async (context) => {
  context.skip(skipped !== undefined, skipped);
  const page = await world.open("#/health");
  await page.getByRole("button", { name: "Check every record" }).click();
  await page.getByText("Every record is sound.").waitFor();
  await page.context().close();
});

test("the heat map tells key, rate and holder at the pointer, and zooms to what was dragged over", async (context) => {
  context.skip(skipped !== undefined, skipped);
  const page = await world.open(`#/runs/${realRun}`);
  const panel = page.getByRole("region", { name: "Heat map" });
  const map = panel.getByRole("application", { name: /^Heat map/ });
  await map.scrollIntoViewIfNeeded();
  const { x, y, width, height } = (await map.boundingBox())!;
  await page.mouse.move(x + width / 2, y + height / 3);
  await panel.getByText(/^[\d.,]+\/s at row:\d+\/\d+ · .*–.* · no holder now/).waitFor();

  const whole = panel.getByRole("button", { name: "Show everything" });
  expect(await whole.isDisabled()).toBe(true);
  await page.mouse.down();
  await page.mouse.move(x + (2 * width) / 3, y + (2 * height) / 3, { steps: 4 });
  await page.mouse.up();
  await expect.poll(() => whole.isEnabled()).toBe(true);
  await whole.click();
  await expect.poll(() => whole.isDisabled()).toBe(true);
  expect(world.complaints).toEqual([]);
  await page.context().close();
});

const VIEWS = [
  { theme: "light", width: 1280 },
  { theme: "dark", width: 1280 },
  { theme: "light", width: 390 },
  { theme: "dark", width: 390 },
] as const;

test.for(VIEWS)("axe finds nothing on any page: $theme, $width pixels", async ({ theme, width }, context) => {
  context.skip(skipped !== undefined, skipped);
  const page = await world.open("#/runs", { theme, width });
  for (const { name, hash, ready } of PAGES) {
    await page.goto(`${world.url}${hash()}`);
    await ready(page).waitFor();
    expect([name, await axeFindings(page)]).toEqual([name, []]);
    const shown = await page.evaluate(
      "({ over: document.documentElement.scrollWidth - innerWidth, theme: document.documentElement.dataset.theme })",
    );
    expect(shown).toEqual({ over: 0, theme });
    const isShown = name !== "nowhere" && (width > 390 || theme === "light");
    if (isShown) await screenshot(page, width === 390 ? `${name}-phone` : `${name}-${theme}`);
  }
  await page.context().close();
  expect(world.complaints).toEqual([]);
});

test.for([VIEWS[0], VIEWS[3]])(
  "axe finds nothing in what can be opened: $theme, $width pixels",
  async (view, context) => {
    context.skip(skipped !== undefined, skipped);
    const page = await world.open(`#/runs/${run}`, view);
    await page.getByText(`Table: ${SHARDS} shards in this part`).waitFor();
    for (const summary of await page.locator("details > summary").all()) await summary.click();
    await page.locator("details[open] tbody tr").first().waitFor();
    await page.getByRole("application", { name: /^Keyspace strip/ }).press("Enter");
    await page.getByRole("button", { name: "Split here …" }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    for (const action of ["Change the rate …", "Cancel …"]) {
      await page.getByRole("button", { name: action }).click();
      await page.getByRole("dialog").waitFor();
      expect([action, await axeFindings(page)]).toEqual([action, []]);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
    await page.context().close();
  },
);

test("axe can find something", async (context) => {
  context.skip(skipped !== undefined, skipped);
  const page = await world.open("#/scopes");
  await page.evaluate("document.querySelector('main').append(document.createElement('button'))");
  expect(await axeFindings(page)).toEqual([expect.stringContaining("button-name")]);
  await page.context().close();
});

test("the tables next to the pictures have every shard, in its state", async (context) => {
  context.skip(skipped !== undefined, skipped);
  const page = await world.open(`#/runs/${run}`);
  await page.getByText(`Table: ${SHARDS} shards in this part`).click();
  const rows = page.getByRole("group", { name: `Table: ${SHARDS} shards in this part` }).getByRole("row");
  await rows.nth(1).waitFor();
  const states = await rows.evaluateAll((all) => all.slice(1).map((row) => row.querySelector(".pill")!.textContent));
  expect(countBy(states)).toEqual({ done: 16, "in progress": 4, parked: 2, waiting: SHARDS - 22 });
  await page.context().close();
});

function countBy(words: readonly (string | null)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word ?? ""] = (counts[word ?? ""] ?? 0) + 1;
  return counts;
}

test("the keyboard alone leads from the list to a shard and to a question, and back", async (context) => {
  context.skip(skipped !== undefined, skipped);
  const page = await world.open("#/runs");
  await page.getByRole("link", { name: run }).waitFor();
  await tabTo(page, (name) => name.includes(run));
  await page.keyboard.press("Enter");
  await page.getByText(`Table: ${SHARDS} shards in this part`).waitFor();
  await tabTo(page, (name) => name.startsWith("Keyspace strip"));
  await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Enter");
  await tabTo(page, (name) => name === "Split here …");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Split here" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await focused(page)).toBe("Split here …");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Shift+Tab");
  expect(await focused(page)).toBe("Open the shard");
  await page.keyboard.press("Enter");
  await page.getByText("Range and progress").waitFor();
  // The content has the focus, so that the next Tab is in it.
  expect(await page.evaluate("document.activeElement.tagName")).toBe("MAIN");
  await page.context().close();
});

/** Press Tab until what has the focus has the wanted name. */
async function tabTo(page: Page, isWanted: (name: string) => boolean): Promise<void> {
  for (let count = 0; count < 80; count++) {
    await page.keyboard.press("Tab");
    if (isWanted(await focused(page))) return;
  }
  throw new Error("Tab does not lead there");
}

async function focused(page: Page): Promise<string> {
  return page.evaluate<string>(
    "document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent.trim() ?? ''",
  );
}

test("the theme can be chosen, and the choice stays", async (context) => {
  context.skip(skipped !== undefined, skipped);
  const page = await world.open("#/scopes", { theme: "dark" });
  const theme = (): Promise<string> => page.evaluate<string>("document.documentElement.dataset.theme");
  await page.getByRole("button", { name: /^Theme: as the system/ }).click();
  await page.getByRole("button", { name: /^Theme: light/ }).waitFor();
  // The button has its new name a moment before the page has its colors.
  await expect.poll(theme).toBe("light");
  await page.reload();
  await page.getByRole("button", { name: /^Theme: light/ }).waitFor();
  await expect.poll(theme).toBe("light");
  await page.context().close();
});

test("everything comes from the server itself, by relative paths, under a strict policy", async (context) => {
  context.skip(skipped !== undefined, skipped);
  const asked: string[] = [];
  const page = await world.open("#/runs");
  page.on("request", (request) => asked.push(new URL(request.url()).host));
  await page.reload();
  await page.getByRole("link", { name: run }).waitFor();
  expect(new Set(asked)).toEqual(new Set([`127.0.0.1:${world.port}`]));
  const html = await (await fetch(world.url)).text();
  for (const [, path] of html.matchAll(/(?:src|href)="([^"]*)"/g)) expect(path).toMatch(/^\.\//);
  const policy = (await fetch(world.url)).headers.get("content-security-policy");
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  await page.context().close();
});

test("behind a path prefix of a proxy everything works as at the root", async (context) => {
  context.skip(skipped !== undefined, skipped);
  const proxy = await servePathPrefix(world.port, "/ops/gossip/");
  const page = await world.open("#/runs");
  try {
    // Without the last slash, which leads to the address with it.
    await page.goto(`${proxy.url}console#/runs/${run}`);
    await page.getByText(`Table: ${SHARDS} shards in this part`).waitFor();
    await page.getByRole("status").getByText("Live", { exact: true }).waitFor();
    expect(page.url()).toBe(`${proxy.url}console/#/runs/${run}`);
    await page.getByRole("button", { name: "Pause …" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Pause", exact: true }).click();
    await page.getByRole("status").getByText("The run is paused.").waitFor();
    await page.getByRole("button", { name: "Resume …" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Resume", exact: true }).click();
    await page.getByRole("status").getByText("The run goes on.").waitFor();
    expect(proxy.strays).toEqual([]);
    expect(world.complaints).toEqual([]);
  } finally {
    await page.context().close();
    await proxy.close();
  }
});
