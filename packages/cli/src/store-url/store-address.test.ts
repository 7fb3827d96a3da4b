// An address that is misread leads to another store, where the work starts over. An address that is printed puts its password
// into every log.
import { maskCredentials } from "@gossip/insight";
import { unwrap } from "@gossip/stdx";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { describeStore, parseStoreAddress } from "./store-address.ts";

const CWD = "/somewhere";
const parse = (text: string) => unwrap(parseStoreAddress(text, CWD));

describe("parseStoreAddress", () => {
  test.each([
    [".gossip", { kind: "lmdb", path: "/somewhere/.gossip" }],
    ["lmdb:/data/store", { kind: "lmdb", path: "/data/store" }],
    ["lmdb:x:y", { kind: "lmdb", path: "/somewhere/x:y" }],
    [
      "postgres://u:p@h:5433/d?sslmode=require",
      { kind: "postgres", url: "postgres://u:p@h:5433/d?sslmode=require", schema: undefined },
    ],
    ["postgresql://h/d?schema=runs", { kind: "postgres", url: "postgresql://h/d", schema: "runs" }],
    ["etcd://h", { kind: "etcd", endpoints: ["http://h:2379"], prefix: undefined, login: undefined }],
    [
      "etcds://a:1,b:2/my/prefix",
      { kind: "etcd", endpoints: ["https://a:1", "https://b:2"], prefix: "my/prefix", login: undefined },
    ],
    [
      "etcd://root:p%40ss@h:2379",
      { kind: "etcd", endpoints: ["http://h:2379"], prefix: undefined, login: { username: "root", password: "p@ss" } },
    ],
  ])("%s", (text, address) => {
    expect(parse(text)).toEqual(address);
  });

  test.each([
    "",
    "lmdb:",
    "mysql://h/d",
    "postgres://h/d?schema=Not-A-Name",
    "etcd://",
    "etcd://h:x y",
    "etcd://user@h",
    "etcd://h/no spaces",
  ])("%j is refused with a sentence", (text) => {
    expect(parseStoreAddress(text, CWD)).toMatchObject({
      ok: false,
      error: { kind: "BadCommandLine", message: expect.stringMatching(/: .+\.$/) as string },
    });
  });
});

test("no password is ever told", () => {
  const secret = fc.stringMatching(/^[a-z0-9]{12,20}$/);
  fc.assert(
    fc.property(secret, secret, (user, password) => {
      const texts = [
        `postgres://${user}:${password}@h:1/d`,
        `etcd://${user}:${password}@h:1`,
        `postgres://${user}:${password}@h:99999999/d`,
        `etcd://${user}:${password}@h:1 2`,
      ];
      for (const text of texts) {
        const parsed = parseStoreAddress(text, CWD);
        const said = parsed.ok ? describeStore(parsed.value) : parsed.error.message;
        expect(said).not.toContain(password);
        expect(said).not.toContain(user);
      }
    }),
  );
});

test("advice with several addresses is not taken for one with a password", () => {
  const advice = ["etcd://", "etcd://a b"].map((text) => {
    const parsed = parseStoreAddress(text, CWD);
    return parsed.ok ? "none" : parsed.error.message;
  });
  expect(advice).not.toContain("none");
  expect(advice.map(maskCredentials)).toEqual(advice);
});
