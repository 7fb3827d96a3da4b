// Records of a scope that is not owned here are easy to mistake for others: leftovers of an earlier move mixed into a new
// one, or records that are removed after the scope has come back.
import { OwnershipNode } from "@gossip/scope";
import { ok, unwrap } from "@gossip/stdx";
import { expect, test } from "vitest";
import { parseClusterFile } from "../ownership/cluster-file.ts";
import { decodeFrameMessage, encodeFrameMessage } from "./frame-message.ts";
import { Staging, type StagedMove } from "./staging.ts";

const { table } = unwrap(
  parseClusterFile(`
    cluster.node = [{ name = "a", address = "a:1" }, { name = "b", address = "b:1" }]
    cluster.scope = [{ prefix = "t/1", writer = "a" }, { prefix = "t/2", writer = "b" }]
  `),
);

function makeWorld(...leftovers: string[]) {
  const node = OwnershipNode.open(table, { self: "b" });
  const rows = new Set(leftovers);
  const log = new Map<string, StagedMove>();
  const staging = new Staging(
    node,
    {
      frames: () => [],
      stage: async (frame) => {
        rows.add(Buffer.from(frame).toString());
        return ok(true);
      },
      purge: async () => {
        rows.clear();
        return ok(true);
      },
      check: async () => ok(0),
    },
    {
      list: () => [...log.values()],
      put: async (move) => void log.set(move.id, move),
      remove: async (id) => void log.delete(id),
    },
  );
  return { staging, node, rows };
}

function moveOf(prefix: string, from: string, to: string) {
  const source = OwnershipNode.open(table, { self: from });
  source.apply(unwrap(source.start({ id: "m1", prefix, from, to, deadlineMs: 9_000 }, 0)));
  source.apply(unwrap(source.drain("m1", 0)));
  return source.offerFor("m1")!;
}

const bytes = (text: string) => Buffer.from(text);

test("leftovers of a scope are removed before its records arrive", async () => {
  const { staging, rows } = makeWorld("old");
  const { migration } = moveOf("t/1", "a", "b");
  expect(await staging.begin(migration)).toEqual({ kind: "Staged", frames: 0, isComplete: false });
  expect([...rows]).toEqual([]);
  await staging.stage({ id: "m1", index: 0, bytes: bytes("new") });
  // A source that restarts begins again, and loses nothing by it.
  expect(await staging.begin(migration)).toMatchObject({ frames: 1 });
  expect([...rows]).toEqual(["new"]);
});

test("frames come in order, each once, and an offer is refused until all are here", async () => {
  const { staging } = makeWorld();
  const offer = moveOf("t/1", "a", "b");
  expect(await staging.stage({ id: "m1", index: 0, bytes: bytes("x") })).toMatchObject({ kind: "Refused" });
  await staging.begin(offer.migration);
  expect(await staging.stage({ id: "m1", index: 1, bytes: bytes("y") })).toMatchObject({ kind: "Refused" });
  expect(await staging.stage({ id: "m1", index: 0, bytes: bytes("x") })).toMatchObject({ frames: 1 });
  expect(await staging.stage({ id: "m1", index: 0, bytes: bytes("x") })).toMatchObject({ frames: 1 });
  expect(await staging.complete("m1", 2)).toMatchObject({ kind: "Refused" });
  expect(await staging.check(offer)).toBe("NotStaged");
  expect(await staging.complete("m1", 1)).toMatchObject({ isComplete: true });
  expect(await staging.check(offer)).toBeUndefined();
});

test("records of a scope that this node owns, or is about to own, are never removed", async () => {
  const { staging, rows } = makeWorld("mine");
  await staging.forget(bytes("t/2"));
  expect([...rows]).toEqual(["mine"]);
  expect(await staging.begin({ ...moveOf("t/1", "a", "b").migration, prefix: bytes("t/2") })).toMatchObject({
    kind: "Refused",
    reason: "NotOwner",
  });
  await staging.begin(moveOf("t/1", "a", "b").migration);
  await staging.stage({ id: "m1", index: 0, bytes: bytes("staged") });
  await staging.forget(bytes("t/1"));
  expect([...rows]).toEqual(["staged"]);
});

test("a frame that is changed on the way is not taken", () => {
  const message = encodeFrameMessage({ id: "m1", index: 3, bytes: bytes("records") });
  expect(decodeFrameMessage(message)).toEqual({ id: "m1", index: 3, bytes: bytes("records") });
  const damaged = Buffer.from(message);
  damaged[damaged.length - 1]! ^= 1;
  expect(decodeFrameMessage(damaged)).toBeUndefined();
  expect(decodeFrameMessage(message.subarray(0, -1))).toBeUndefined();
  expect(decodeFrameMessage(bytes("words"))).toBeUndefined();
});
