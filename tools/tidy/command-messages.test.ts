// A message that the troubleshooting page does not list leaves its reader alone. The collector is tried on every form in
// which the sources write messages.
import { expect, test } from "vitest";
import { commandMessages, listedMessages, unlistedMessages } from "./command-messages.ts";

function collected(file: string, ...lines: string[]): string[] {
  return commandMessages([{ file, text: lines.join("\n") }]).map(({ text }) => text);
}

test.each([
  ['return fail("StoreFull", "no room: make some.");', "no room: make some."],
  ["return fail(kind, `no run ${name} in ${where}: name one.`);", "no run … in …: name one."],
  ['return fail("NotAllowed", isOld ? "too old." : `too new, ${n}.`);', "too old.", "too new, …."],
  ['const error = { kind: "RunEnded", message: "it has ended." };', "it has ended."],
  ["read.problem ??= `${option} is not a number.`;", "… is not a number."],
  ['const say = () => fail("OtherSettings", why(a)); function why(a) { return `other: ${a}.`; }', "other: …."],
])("%s is a message of the command", (code, ...messages) => {
  expect(collected("packages/cli/src/a.ts", code)).toEqual(messages);
});

test("other text is none", () => {
  expect(collected("packages/cli/src/a.ts", 'say("a b c d e f"); const x = { message: "a b c d" };')).toEqual([]);
  expect(collected("packages/cli/src/a.test.ts", 'fail("StoreFull", "no room: make some.");')).toEqual([]);
  expect(collected("packages/worker/src/a.ts", 'fail("StoreFull", "no room: make some.");')).toEqual([]);
});

test("messages of other packages that the command prints are collected", () => {
  const sentences = [
    "const S = { A: () => `no server answers ${code}; start it`, B: () => why() };",
    'assert(x, "a b c d e");',
  ];
  expect(collected("packages/coordination-etcd/src/open/etcd-open-error.ts", ...sentences)).toEqual([
    "no server answers …; start it",
  ]);
  expect(collected("packages/tso-server/src/flags/a.ts", 'return usage("--etcd is wrong.");')).toEqual([
    "--etcd is wrong.",
  ]);
  expect(collected("packages/insight/src/keys/key-text.ts", 'return err("the key is wrong.");')).toEqual([
    "the key is wrong.",
  ]);
});

test("a message that is not listed, and a line that no message has, are findings", () => {
  const text =
    "- `there is no run … in …: name\n  one.` It was deleted.\n- ``see `gossip runs`.`` More.\n- **Not** a message.\n";
  expect(listedMessages(text)).toEqual(["there is no run … in …: name one.", "see `gossip runs`."]);
  const page = { file: "page.md", text };
  const known = (...texts: string[]) => texts.map((message) => ({ file: "a.ts", line: 7, text: message }));
  expect(unlistedMessages(known("there is no run … in …: name one.", "see `gossip runs`."), page)).toEqual([]);
  expect(unlistedMessages(known("there is no run … in …: name one.", "new."), page)).toEqual([
    { file: "a.ts", line: 7, what: "page.md does not list this message: new." },
    { file: "page.md", line: 0, what: "lists a message that the command does not have: see `gossip runs`." },
  ]);
});
