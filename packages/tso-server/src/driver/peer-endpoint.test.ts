// A hint tells a client where to connect. One that is taken for what it is not sends it to a
// stranger, or past encryption.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_ENDPOINT_SIZE, PeerEndpoint } from "./peer-endpoint.ts";

describe("PeerEndpoint", () => {
  test.each([
    ["a:1", "a", 1],
    ["127.0.0.1:50551", "127.0.0.1", 50_551],
    ["[::1]:65535", "::1", 65_535],
    ["tso-0.tso.svc.cluster.local:50551", "tso-0.tso.svc.cluster.local", 50_551],
  ])("%s is an endpoint", (text, host, port) => {
    const parsed = PeerEndpoint.parse(text);
    expect(parsed).toEqual({ ok: true, value: text });
    expect(parsed.ok && PeerEndpoint.split(parsed.value)).toEqual({ host, port });
  });

  test.each([
    ["", "Empty"],
    ["http://a:1", "SchemeBearing"],
    ["HTTPS://a:1", "SchemeBearing"],
    ["tcp://a:1", "SchemeBearing"],
    ["a", "MissingPort"],
    ["a:", "MissingPort"],
    ["[::1]", "MissingPort"],
    [":5", "EmptyHost"],
    ["[]:5", "EmptyHost"],
    ["a:0", "InvalidPort"],
    ["a:65536", "InvalidPort"],
    ["a:+5", "InvalidPort"],
    ["a:5 ", "InvalidPort"],
    ["a:five", "InvalidPort"],
    [`${"a".repeat(MAX_ENDPOINT_SIZE)}:1`, "TooLong"],
  ])("%s is not: %s", (text, reason) => {
    expect(PeerEndpoint.parse(text)).toEqual({ ok: false, error: { kind: "InvalidEndpoint", reason } });
  });

  test("never throws, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("a", ":", "/", "[", "]", "1", "0", " ") }), (text) => {
        expect(typeof PeerEndpoint.parse(text).ok).toBe("boolean");
      }),
    );
  });
});
