// A token that can be guessed, read back from its file, or used after it was revoked gives an attacker access to a tenant's runs.
import { TenantId } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TokenBook } from "./token-book.ts";
import { changeTokenFile, readTokenFile } from "./token-file.ts";
import { isTokenLive, isTokenOf, makeToken, tokenIdOf, type TokenRecord } from "./token.ts";

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "gossip-tokens-"));
  path = join(folder, "tokens.json");
});
afterEach(() => rm(folder, { recursive: true }));

const tenant = TenantId.fromBytes(new Uint8Array(32).fill(3));
let drawn = 0;
/** Bytes that differ each time and are the same in every run. */
const random = (size: number) => createHash("sha512").update(String(drawn++)).digest().subarray(0, size);
const make = (more: Partial<TokenRecord> = {}) =>
  makeToken({ name: "ci", role: "work", tenants: [tenant], createdAtMs: 1, ...more }, random);
const add = (record: TokenRecord) =>
  changeTokenFile(path, (tokens) => ({ tokens: [...tokens, record], result: undefined }));
const asking = (authorization?: string) => ({ headers: { authorization } }) as IncomingMessage;

test("a token is recognized by its hash, which does not contain it", () => {
  const { token, record } = make();
  expect(token).toMatch(/^gsp_[0-9a-f]{8}_[\w-]{43}$/);
  expect(tokenIdOf(token)).toBe(record.id);
  expect(isTokenOf(token, record)).toBe(true);
  expect(isTokenOf(`${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`, record)).toBe(false);
  expect(isTokenOf(token, undefined)).toBe(false);
  expect(JSON.stringify(record)).not.toContain(token.slice(13));
});

test("a token ends when it expires and when it is revoked", () => {
  const { record } = make({ expiresAtMs: 100 });
  expect([isTokenLive(record, 99), isTokenLive(record, 100)]).toEqual([true, false]);
  expect(isTokenLive({ ...record, revokedAtMs: 5 }, 50)).toBe(false);
});

test("the file keeps tokens for its owner only, and refuses two changes at once", async () => {
  unwrap(await add(make().record));
  unwrap(await add(make().record));
  expect(unwrap(await readTokenFile(path))).toHaveLength(2);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  await writeFile(`${path}.next`, "");
  expect(await add(make().record)).toMatchObject({ error: { kind: "TokensLocked" } });
});

test("a file that is none of ours is refused and left alone", async () => {
  await writeFile(path, '{"version":1,"tokens":[{"id":"x"}]}');
  expect(await readTokenFile(path)).toMatchObject({ error: { kind: "NotTokens" } });
  expect(await add(make().record)).toMatchObject({ error: { kind: "NotTokens" } });
  expect(await readFile(path, "utf8")).toContain('"x"');
  expect(await TokenBook.open({ path, nowMs: () => 1 })).toMatchObject({ error: { kind: "NotTokens" } });
});

test("a book accepts the tokens of its file, and stops when they are revoked", async () => {
  const { token, record } = make();
  unwrap(await add(record));
  const book = unwrap(await TokenBook.open({ path, nowMs: () => 1 }));
  try {
    expect(book.authenticate(asking(`Bearer ${token}`))).toMatchObject({
      id: record.id,
      role: "work",
      onlyTenant: tenant,
    });
    for (const header of [undefined, "", token, `Basic ${token}`, "Bearer gsp_00000000_x", `Bearer ${make().token}`])
      expect(book.authenticate(asking(header))).toBeUndefined();
    unwrap(
      await changeTokenFile(path, (tokens) => ({
        tokens: tokens.map((one) => ({ ...one, revokedAtMs: 2 })),
        result: undefined,
      })),
    );
    await vi.waitFor(() => expect(book.authenticate(asking(`Bearer ${token}`))).toBeUndefined(), {
      timeout: 5_000,
      interval: 20,
    });
  } finally {
    book.close();
  }
});

test("a file that becomes unreadable ends every token", async () => {
  const { token, record } = make();
  unwrap(await add(record));
  const problems: unknown[] = [];
  const book = unwrap(await TokenBook.open({ path, nowMs: () => 1, onProblem: (error) => problems.push(error) }));
  try {
    await writeFile(path, "{");
    await vi.waitFor(() => expect(problems).toHaveLength(1), { timeout: 5_000, interval: 20 });
    expect(book.authenticate(asking(`Bearer ${token}`))).toBeUndefined();
  } finally {
    book.close();
  }
});
