// A server that sends the wrong type or the wrong bytes shows an empty page.
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { buildConsole } from "@gossip/tools/browser";
import { consoleFiles } from "./console-files.ts";

test("the files are the built page, small, and without anything inline", async () => {
  await buildConsole();
  const files = consoleFiles();
  const page = Buffer.from(files.get("index.html")!.body).toString();
  for (const [, path] of page.matchAll(/(?:src|href)="\.\/([^"]+)"/g)) expect([...files.keys()]).toContain(path);
  expect(page).not.toMatch(/<script(?![^>]* src=)|<style|style=|https?:/);
  for (const { body, gzip } of files.values()) expect(gunzipSync(gzip).equals(body)).toBe(true);
  expect([...files.values()].reduce((sum, { gzip }) => sum + gzip.length, 0)).toBeLessThan(60_000);
  expect(new Set([...files.values()].map(({ contentType }) => contentType))).toEqual(
    new Set(["text/html; charset=utf-8", "text/javascript; charset=utf-8", "text/css; charset=utf-8", "image/svg+xml"]),
  );
});
