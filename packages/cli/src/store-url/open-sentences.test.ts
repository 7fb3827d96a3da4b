// A store that cannot be opened is the first problem of most users. A message that says only that it failed does not help them, and a script
// that cannot tell a full disk from a wrong password does the wrong thing about it.
import { etcdOpenErrorMessage, type EtcdOpenError } from "@gossip/coordination-etcd";
import { lmdbOpenErrorMessage, type LmdbOpenError } from "@gossip/coordination-lmdb";
import { postgresOpenErrorMessage, type PostgresOpenError } from "@gossip/coordination-postgres";
import { Redacted } from "@gossip/stdx";
import { expect, test } from "vitest";
import { etcdSentence, folderSentence, lmdbSentence, postgresSentence } from "./open-sentences.ts";

const failed = { code: "EIO", cause: new Redacted("hunter2") };
const versions = { found: 9, supported: 1 };
const lmdb = (error: LmdbOpenError) => lmdbSentence(error, { where: "/store", why: lmdbOpenErrorMessage(error) });
const postgres = (error: PostgresOpenError) =>
  postgresSentence(error, { where: "PostgreSQL at h/d", why: postgresOpenErrorMessage(error) });
const etcd = (error: EtcdOpenError) => etcdSentence(error, { where: "etcd at h", why: etcdOpenErrorMessage(error) });
const refused = (code: number) => etcd({ kind: "Refused", code, reason: "words of etcd" });

const CASES = [
  [lmdb({ kind: "ReadOnlyFolder" }), "StoreNotWritable"],
  [lmdb({ kind: "DiskFull" }), "StoreFull"],
  [lmdb({ kind: "NewerFormat", ...versions }), "StoreNewer"],
  [lmdb({ kind: "NotAStore" }), "NotAStore"],
  [lmdb({ kind: "Truncated", size: 1, expected: 2 }), "StoreDamaged"],
  [lmdb({ kind: "StoreDamaged" }), "StoreDamaged"],
  [lmdb({ kind: "GateDamaged" }), "StoreDamaged"],
  [lmdb({ kind: "OtherDurability", openWith: "Written" }), "StoreFailed"],
  [lmdb({ kind: "Unavailable", ...failed }), "StoreFailed"],
  [lmdb({ kind: "Unavailable", ...failed, code: "ENOTDIR" }), "NotAStore"],
  [postgres({ kind: "InvalidUrl", part: "Port" }), "BadCommandLine"],
  [postgres({ kind: "Unreachable", ...failed }), "StoreUnreachable"],
  [postgres({ kind: "AccessDenied", ...failed }), "StoreAccessDenied"],
  [postgres({ kind: "MissingDatabase", ...failed }), "StoreFailed"],
  [postgres({ kind: "NotPermitted", ...failed }), "StoreNotWritable"],
  [postgres({ kind: "OldServer", ...versions }), "StoreFailed"],
  [postgres({ kind: "NewerSchema", ...versions }), "StoreNewer"],
  [postgres({ kind: "MigrationNeeded", ...versions }), "StoreOlder"],
  [postgres({ kind: "MigrationUnsafe", ...versions, otherSessions: 2 }), "StoreOlder"],
  [postgres({ kind: "MigrationNeeded", found: 0, supported: 1 }), "RunNotFound"],
  [postgres({ kind: "Unavailable", ...failed }), "StoreFailed"],
  [etcd({ kind: "Unavailable", reason: "x" }), "StoreUnreachable"],
  [etcd({ kind: "NotAStore" }), "NotAStore"],
  [etcd({ kind: "NewerFormat", ...versions }), "StoreNewer"],
  [etcd({ kind: "TxnBudgetTooSmall", needed: 128 }), "StoreFailed"],
  [refused(16), "StoreAccessDenied"],
  [refused(7), "StoreAccessDenied"],
  [refused(8), "StoreFull"],
  [refused(2), "StoreFailed"],
  [folderSentence("EACCES", "/store"), "StoreNotWritable"],
  [folderSentence("ENOTDIR", "/store"), "NotAStore"],
  [folderSentence("ENOSPC", "/store"), "StoreFull"],
  [folderSentence("EIO", "/store"), "StoreFailed"],
] as const;

test("every reason not to open a store has a sentence with a way on, and an end that scripts can tell", () => {
  for (const [{ kind, message }, expected] of CASES) {
    expect({ kind, message }).toEqual({
      kind: expected,
      message: expect.stringMatching(/^[^:]*(\/store|h\/d|etcd at h)[^:]*: .+\.$/) as string,
    });
    expect(message).not.toContain("hunter2");
  }
  expect(new Set(CASES.map(([{ message }]) => message)).size).toBe(CASES.length);
});

test("a wrong password is what etcd calls a wrong argument", () => {
  expect(refused(3)).toEqual(refused(16));
});

test("only what may pass by itself is worth waiting for", () => {
  expect(postgres({ kind: "Unreachable", ...failed, code: "ECONNREFUSED" }).outage).toBe("ECONNREFUSED");
  expect(postgres({ kind: "Unavailable", ...failed, code: "57P03" }).outage).toBe("57P03");
  expect(etcd({ kind: "Unavailable", reason: "ETIMEDOUT" }).outage).toBe("ETIMEDOUT");
  // Names that do not exist, refused logins, other software.
  expect(postgres({ kind: "Unreachable", ...failed, code: "ENOTFOUND" }).outage).toBeUndefined();
  expect(etcd({ kind: "Unavailable", reason: "ENOTFOUND" }).outage).toBeUndefined();
  const others = CASES.filter(([, kind]) => kind !== "StoreUnreachable").map(([error]) => error.outage);
  expect(new Set(others)).toEqual(new Set([undefined]));
});

test("a quota that is used up is a full disk", () => {
  expect(folderSentence("EDQUOT", "/store")).toEqual(folderSentence("ENOSPC", "/store"));
});
