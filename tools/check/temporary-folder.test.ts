// A test run that left its temporary files in memory would take the memory of the next one. One that ignored TMPDIR could not
// be run on the disk.
import { existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { openTemporaryFolder } from "./temporary-folder.ts";

afterEach(() => void vi.unstubAllEnvs());

test("a folder that was chosen is used, and not removed", () => {
  vi.stubEnv("TMPDIR", import.meta.dirname);
  const { path, remove } = openTemporaryFolder();
  expect(path).toBeUndefined();
  remove();
  expect(existsSync(import.meta.dirname)).toBe(true);
});

test("a folder in memory is open to every user, and gone with all that is in it", () => {
  vi.stubEnv("TMPDIR", undefined);
  const { path, remove } = openTemporaryFolder();
  // A machine without room for it uses the system's folder.
  if (path !== undefined) {
    expect(statSync(path).mode & 0o7777).toBe(0o1777);
    writeFileSync(join(path, "file"), "");
  }
  remove();
  expect(path !== undefined && existsSync(path)).toBe(false);
});
