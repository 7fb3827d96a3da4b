// A reply goes into a line protocol. A prefix or an id that could end the line would let the caller who
// chose it write replies of their own.
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { unwrap } from "@gossip/stdx";
import { bytes } from "../arbitrary.fixture.ts";
import { OwnershipNode } from "../move/ownership-node.ts";
import { OwnershipTable } from "../table/ownership-table.ts";
import type { Routing } from "./routing.ts";
import { Scope } from "../table/scope.ts";
import { renderReply } from "./wire-reply.ts";

// On a busy machine a property takes longer than a test is usually given.
vi.setConfig({ testTimeout: 60_000 });

const scope = new Scope({ prefix: "p:", writer: "a" });
const addresses = new Map([["b", "10.0.0.2:6379"]]);
const addressOf = (node: string): string | undefined => addresses.get(node);
const quiesced = (prefix: Uint8Array, target = "b", address?: string): Routing => ({
  kind: "Quiesced",
  prefix,
  epoch: 1,
  target,
  address,
});

describe("renderReply", () => {
  test.each<[string, Routing, string | undefined]>([
    ["misdirected", { kind: "Misdirected", scope, epoch: 1, target: "b" }, "MISDIRECTED writer is 10.0.0.2:6379"],
    [
      "misdirected to a node without an address",
      { kind: "Misdirected", scope, epoch: 1, target: "x" },
      "MISDIRECTED writer is x",
    ],
    ["quiesced", quiesced(bytes("app:billing:")), "QUIESCED app:billing: migrating to 10.0.0.2:6379"],
    [
      "quiesced, the address given with the move",
      quiesced(bytes("p:"), "b", "new:1"),
      "QUIESCED p: migrating to new:1",
    ],
    ["quiesced, the empty prefix", quiesced(bytes("")), 'QUIESCED "" migrating to 10.0.0.2:6379'],
    ["quiesced, a prefix of two quotes", quiesced(bytes('""')), "QUIESCED \\x22\\x22 migrating to 10.0.0.2:6379"],
    [
      "quiesced, a prefix with a line end and a backslash",
      quiesced(bytes("a\r\n\\")),
      "QUIESCED a\\x0d\\x0a\\\\ migrating to 10.0.0.2:6379",
    ],
    ["unavailable", { kind: "Unavailable", scope, epoch: 1, writer: "b" }, "UNAVAILABLE writer is 10.0.0.2:6379"],
    ["owned", { kind: "Owned", scope, epoch: 1 }, undefined],
    ["unknown", { kind: "Unknown" }, undefined],
  ])("%s", (_, routing, reply) => {
    expect(renderReply(routing, addressOf)).toBe(reply);
  });

  test("says what the seed says, from a move to the line", () => {
    const table = unwrap(OwnershipTable.build([new Scope({ prefix: "app:billing:", writer: "a" })]));
    const node = OwnershipNode.open(table, { self: "a" });
    node.apply(unwrap(node.start({ id: "m", prefix: "app:billing:", from: "a", to: "b", deadlineMs: 1 }, 0)));
    expect(renderReply(node.route("app:billing:1"), addressOf)).toBe(
      "QUIESCED app:billing: migrating to 10.0.0.2:6379",
    );
  });

  test("is one line of five words in visible ASCII, whatever the prefix and the id, and tells prefixes apart", () => {
    const anything = fc.uint8Array({ maxLength: 8 });
    fc.assert(
      fc.property(anything, anything, fc.string({ unit: "binary", maxLength: 8 }), (prefix, other, target) => {
        const reply = renderReply(quiesced(prefix, target), () => undefined)!;
        expect(reply).toMatch(/^[\x20-\x7e]*$/);
        expect(reply.split(" ").length).toBe(5);
        expect(renderReply(quiesced(other, target), () => undefined) === reply).toBe(String(prefix) === String(other));
      }),
      { numRuns: 500 },
    );
  });
});
