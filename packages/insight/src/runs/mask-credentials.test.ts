// What is printed ends up in logs, tickets and chats. A password in it has been told to everyone who reads those.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { maskCommand, maskCredentials, maskedJson } from "./mask-credentials.ts";

describe("maskCredentials", () => {
  test.each([
    ["postgres://me:hunter2@h:1/d", "postgres://me:…@h:1/d"],
    ["postgres:/me:hunter2@h", "postgres:/me:…@h"],
    ["postgres:me:hunter2@h", "postgres:me:…@h"],
    ["postgres://hunter2@h/d", "postgres://…@h/d"],
    ["//me:hunter2@h/d", "//me:…@h/d"],
    ["me:hunter2@h", "me:…@h"],
    ["etcds://root:hunt/er2@a:1,b:2/p", "etcds://root:…@a:1,b:2/p"],
    ["/somewhere/x/postgres:/me:hunter2@h is no folder", "/somewhere/x/postgres:/me:…@h is no folder"],
    ["unknown command 'postgres://me:hunter2@h'", "unknown command 'postgres://me:…@h'"],
    ["unknown command 'postgres://me:hunt er2@h'", "unknown command 'postgres://me:…@h'"],
    ["--store=postgres://me:hunter2@h", "--store=postgres://me:…@h"],
    ["http://me:hunter2@h/x and ftp://x:hunter2@y", "http://me:…@h/x and ftp://x:…@y"],
    ["postgres://h/d?password=hunter2&sslmode=require", "postgres://h/d?password=…&sslmode=require"],
    ["postgres://h/d?user=a&sslpassword=hunter2", "postgres://h/d?user=a&sslpassword=…"],
    ["PGPASSWORD=hunter2 psql", "PGPASSWORD=… psql"],
    ["AWS_SECRET_ACCESS_KEY='hunter2 x' aws", "AWS_SECRET_ACCESS_KEY=… aws"],
    ["https://h/x?X-Amz-Signature=hunter2&sig=hunter2", "https://h/x?X-Amz-Signature=…&sig=…"],
  ])("%s", (text, masked) => {
    expect(maskCredentials(text)).toBe(masked);
  });

  test.each([
    "fs:/data through sha256sum {}",
    "https://example.org/pkg@1.2.3",
    "http://h:80/a@b",
    "mail bob@example.org",
    "logs/x:y",
    "/a@b/c",
    "etcd at h:2379, i:2379",
    "--password is empty: give it one.",
    "no password: ask the operator.",
    '{"token":"page-2"}',
    "design=1&signal=2",
    "postgres:h/d#public.orders",
  ])("%s stays as it is", (text) => {
    expect(maskCredentials(text)).toBe(text);
  });

  const secret = fc.stringMatching(/^[!-~]{10,24}$/).filter((text) => !/[@\s]/.test(text));
  const scheme = fc.constantFrom("postgres", "postgresql", "etcd", "etcds");
  const slashes = fc.constantFrom("", "/", "//", "///");
  const around = fc.constantFrom("", "unknown command '", "error: ", "cannot read /x/");

  test("no password of a store's address is left, however odd it is and wherever it stands", () => {
    fc.assert(
      fc.property(around, scheme, slashes, secret, (before, kind, gap, password) => {
        const masked = maskCredentials(`${before}${kind}:${gap}user:${password}@host/db`);
        expect(masked).not.toContain(password);
        expect(masked.endsWith("@host/db")).toBe(true);
      }),
    );
  });

  test("masking twice changes nothing more", () => {
    fc.assert(
      fc.property(around, scheme, slashes, secret, (before, kind, gap, password) => {
        const once = maskCredentials(`${before}${kind}:${gap}user:${password}@host/db`);
        expect(maskCredentials(once)).toBe(once);
      }),
    );
  });
});

test.each([
  ["curl -H 'Authorization: Bearer hunter2' {}", "curl -H 'Authorization: …' {}"],
  ['curl -H "X-Api-Key: hunter2" {}', 'curl -H "X-Api-Key: …" {}'],
  ["curl -u me:hunter2 {}", "curl -u me:… {}"],
  ["tool --password hunter2 {}", "tool --password … {}"],
  ["tool --db-password='hunter2' {}", "tool --db-password=… {}"],
  ["tool --token --quiet {}", "tool --token --quiet {}"],
  ["sshpass -p hunter2 ssh h {}", "sshpass -p … ssh h {}"],
  ["mysql -u me -phunter2 {}", "mysql -u me -p… {}"],
  [`post '{"password":"hunter2","n":1}' {}`, `post '{"password":…,"n":1}' {}`],
  ["redis-cli -h h -a hunter2 get {}", "redis-cli -h h -a … get {}"],
  ["curl -s --cookie session=hunter2 {}", "curl -s --cookie … {}"],
  ["curl -b 'a=hunter2; b=1' {}", "curl -b … {}"],
  ["curl -H 'Cookie: a=hunter2' {}", "curl -H 'Cookie: …' {}"],
  ["cp -a {} /out; tar -b 20 -cf x {}", "cp -a {} /out; tar -b 20 -cf x {}"],
  ["mkdir -p out && sha256sum {}", "mkdir -p out && sha256sum {}"],
])("in a command: %s", (command, masked) => {
  expect(maskCommand(command)).toBe(masked);
});

test("texts are masked at any depth, and everything else is kept", () => {
  expect(JSON.parse(maskedJson({ a: ["x", 1, null, { b: "postgres://u:hunter2@h" }], c: true }))).toEqual({
    a: ["x", 1, null, { b: "postgres://u:…@h" }],
    c: true,
  });
});
