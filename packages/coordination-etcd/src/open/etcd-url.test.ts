// A URL is typed by people and has a password in it. Read wrongly it leads to the wrong cluster; shown in a message it is in every log.

import { describe, expect, test } from "vitest";
import { parseEtcdUrl } from "./etcd-url.ts";

describe("parseEtcdUrl", () => {
  test.each([
    ["etcd://a", { endpoints: ["http://a:2379"] }],
    ["etcd://a:1,b:2,c", { endpoints: ["http://a:1", "http://b:2", "http://c:2379"] }],
    ["etcds://a:1/one/two", { endpoints: ["https://a:1"], prefix: "one/two" }],
    ["http://a:1/", { endpoints: ["http://a:1"] }],
    ["https://ann:s%3Ae@a:1", { endpoints: ["https://a:1"], username: "ann", password: "s:e" }],
    ["etcd://ann:@[::1]:5/p", { endpoints: ["http://[::1]:5"], username: "ann", password: "", prefix: "p" }],
  ])("%s", (url, expected) => {
    expect(parseEtcdUrl(url)).toEqual(expected);
  });

  test.each([
    undefined,
    5,
    "",
    "etcd://",
    "ftp://a",
    "a:2379",
    "etcd://ann:secret-word@",
    "etcd://ann:secret-word%@a",
    "etcd://ann:secret-word@a@b",
    "etcd://a?x=1",
  ])("%s is refused, in words that do not show it", (url) => {
    expect(() => parseEtcdUrl(url as string)).toThrow("URL of an etcd store");
    expect(() => parseEtcdUrl(url as string)).not.toThrow("secret-word");
  });
});
