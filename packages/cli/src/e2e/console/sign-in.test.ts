// `gossip serve --tokens` serves the page to everyone and the data to holders of a token. An operator who cannot sign in
// sees nothing, and a token that still shows something after it was revoked is a leak.
import { RunId } from "@gossip/contracts";
import { axeFindings, browserSkipped, type Page } from "@gossip/tools/browser";
import { freePort } from "@gossip/tools/engines";
import { afterAll, beforeAll, expect, test } from "vitest";
import { gossip, type GossipProcess } from "../../processes/gossip-process.fixture.ts";
import { ConsoleWorld } from "./console-world.fixture.ts";
import { screenshot } from "./screenshot.fixture.ts";
import { seedRun, workOn } from "./seed-run.fixture.ts";

const skipped = browserSkipped();
const SHARDS = 24;
let world: ConsoleWorld;
let server: GossipProcess;
let url: string;
let run: string;

beforeAll(async () => {
  if (skipped !== undefined) return;
  world = await ConsoleWorld.start();
  const seeded = await seedRun(world.coordinator, { run: 0x51n, shardCount: SHARDS });
  await workOn(world.coordinator, seeded, SHARDS);
  run = RunId.format(seeded);
  // The server wants a file with a token.
  await createToken("admin");
  const port = await freePort();
  url = `http://127.0.0.1:${port}/console/`;
  server = await world.gossip("serve", "--tokens", "tokens.json", "--listen", `127.0.0.1:${port}`);
  if (!(await server.heard(/^listening/m))) throw new Error((await server.ended).log);
});
afterAll(async () => {
  await server?.kill();
  await world?.stop();
});

interface CreatedToken {
  readonly id: string;
  readonly token: string;
}

async function createToken(role: string, ...flags: string[]): Promise<CreatedToken> {
  const scope = flags.length === 0 ? ["--all-tenants"] : flags;
  const args = ["token", "create", "--tokens", "tokens.json", "--role", role, "--json", ...scope];
  const { code, stdout, log } = await gossip(args, { cwd: world.folder });
  if (code !== 0) throw new Error(log);
  return JSON.parse(stdout) as CreatedToken;
}

/** A new token that the server knows: it reads the file again only now and then. */
async function createKnownToken(role: string, ...flags: string[]): Promise<CreatedToken> {
  const created = await createToken(role, ...flags);
  const headers = { authorization: `Bearer ${created.token}` };
  while ((await fetch(new URL("/v1/runs", url), { headers })).status === 401);
  return created;
}

async function revoke({ id }: CreatedToken): Promise<void> {
  const { code, log } = await gossip(["token", "revoke", id, "--tokens", "tokens.json"], { cwd: world.folder });
  if (code !== 0) throw new Error(log);
}

async function open(): Promise<Page> {
  const page = await world.open("#/runs");
  await page.goto(`${url}#/runs/${run}`);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  return page;
}

async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel("Token").fill(token);
  await page.keyboard.press("Enter");
}

/** Wait until the run is shown, and its changes are followed. */
async function seesRun(page: Page): Promise<void> {
  await page.getByText(`Table: ${SHARDS} shards in this part`).waitFor();
  await page.getByRole("status").getByText("Live", { exact: true }).waitFor();
}

test("a token that is wrong is refused, and the right one leads to the page that was asked for", async (context) => {
  context.skip(skipped !== undefined, skipped);
  const { token } = await createKnownToken("operate");
  const page = await open();
  expect(await axeFindings(page)).toEqual([]);
  for (const theme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: theme });
    await screenshot(page, `sign-in-${theme}`);
  }
  await signIn(page, "not-a-token");
  await page.getByRole("alert").getByText("The server does not accept this token").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await signIn(page, token);
  await seesRun(page);
  await page.getByRole("button", { name: "Pause …" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Pause", exact: true }).click();
  await page.getByRole("status").getByText("The run is paused.").waitFor();
  // The token stays in the tab, and nowhere else.
  await page.reload();
  await seesRun(page);
  expect(page.url()).not.toContain(token);
  expect(await page.evaluate("[document.cookie, localStorage.length]")).toEqual(["", 0]);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
  expect(world.complaints).toEqual([]);
  await page.context().close();
});

test("a token that may only read shows everything and offers no action", async (context) => {
  context.skip(skipped !== undefined, skipped);
  const { token } = await createKnownToken("read");
  const page = await open();
  await signIn(page, token);
  await seesRun(page);
  await page.getByText("read-only").waitFor();
  await page.getByRole("region", { name: "Parked shards" }).locator("tbody tr").first().waitFor();
  expect(await page.getByRole("button", { name: /…$/ }).allTextContents()).toEqual([]);
  await page.goto(`${url}#/health`);
  await page.getByText("An operator can start a check.").waitFor();
  await page.context().close();
});

test("a token of another tenant does not show the run", async (context) => {
  context.skip(skipped !== undefined, skipped);
  const { token } = await createKnownToken("operate", "--tenant", "7".repeat(64));
  const page = await open();
  await signIn(page, token);
  await page.getByRole("alert").getByText("There is no such run.").waitFor();
  await page.goto(`${url}#/runs`);
  await page.getByText("No runs yet").waitFor();
  expect(await page.getByText(run).count()).toBe(0);
  await page.context().close();
});

test("a token that is revoked while the page is open ends the session, and what was shown is gone", async (context) => {
  context.skip(skipped !== undefined, skipped);
  const created = await createKnownToken("operate");
  const page = await open();
  await signIn(page, created.token);
  await seesRun(page);
  // Also a question that is open.
  await page.getByRole("button", { name: "Cancel …" }).click();
  await page.getByRole("dialog").waitFor();
  await revoke(created);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await page.getByRole("alert").getByText("Your session has ended").waitFor();
  expect(await page.getByRole("dialog").count()).toBe(0);
  expect(await page.getByText(`Table: ${SHARDS} shards in this part`).count()).toBe(0);
  await page.context().close();
});
