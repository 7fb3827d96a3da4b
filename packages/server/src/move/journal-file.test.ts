// A node that forgets what it decided can own a scope that it has given away. A crash may cut the last line, and only that.
import { OwnershipNode, OwnershipTable, Scope } from "@gossip/scope";
import { unwrap } from "@gossip/stdx";
import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { JournalFile } from "./journal-file.ts";

const table = unwrap(OwnershipTable.build([new Scope({ prefix: "t/1", writer: "a" })]));
const node = OwnershipNode.open(table, { self: "a" });
const started = unwrap(node.start({ id: "m", prefix: "t/1", from: "a", to: "b", deadlineMs: 9 }, 0)).entry!;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "gossip-journal-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function reopen() {
  const { journal, entries } = unwrap(await JournalFile.open(folder));
  return { journal, kinds: entries.map(({ kind }) => kind) };
}

test("a journal returns its entries, and a cut last line counts as never written", async () => {
  const first = await reopen();
  await first.journal.restart(node.checkpoint());
  await first.journal.append(started);
  await first.journal.close();
  await appendFile(join(folder, "ownership.journal"), '{"kind":"Dra');
  const second = await reopen();
  expect(second.kinds).toEqual(["Opened", "Started"]);
  await second.journal.append({ kind: "Drained", id: "m" });
  await second.journal.close();
  expect((await reopen()).kinds).toEqual(["Opened", "Started", "Drained"]);
});

test("a checkpoint takes the place of all entries at once", async () => {
  const first = await reopen();
  await first.journal.restart(node.checkpoint());
  await first.journal.append(started);
  await first.journal.restart(node.checkpoint());
  await first.journal.append(started);
  await first.journal.close();
  // What a crash before the rename leaves.
  await writeFile(join(folder, "ownership.journal.next"), "half");
  expect((await reopen()).kinds).toEqual(["Opened", "Started"]);
});

test("a damaged line is reported, not skipped", async () => {
  const first = await reopen();
  await first.journal.restart(node.checkpoint());
  await first.journal.close();
  const text = await readFile(join(folder, "ownership.journal"), "utf8");
  await writeFile(join(folder, "ownership.journal"), `${text}words\n${text}`);
  expect(await JournalFile.open(folder)).toEqual({ ok: false, error: { kind: "CorruptJournal", position: 1 } });
});
