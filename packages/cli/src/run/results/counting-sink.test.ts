// The counts say what was skipped and how many failed. They travel in the cursor: a count that is off by one item after a
// crash, or a token that loses what the results' own sink wrote, is a false report about a user's data.
import { FenceEpoch, RunId, ShardId } from "@gossip/contracts";
import type { Item, Sink } from "@gossip/worker";
import fc from "fast-check";
import { expect, test } from "vitest";
import { countingSink } from "./counting-sink.ts";
import { decodeTotalsToken, encodeTotalsToken } from "./item-totals.ts";

const item: Item = { key: Uint8Array.of(1) };
const shard = { run: RunId.fromRaw(1n), shard: ShardId.fromRaw(1n) };

test("a token comes back as it went, whatever the inner one is", () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), fc.nat(), fc.uint8Array({ maxLength: 50 }), (items, failed, unreadable, inner) => {
      const totals = { items, failed, unreadable };
      expect(decodeTotalsToken(encodeTotalsToken(totals, inner))).toEqual({ ...totals, inner });
    }),
  );
  expect([
    decodeTotalsToken(undefined),
    decodeTotalsToken(new Uint8Array(16)),
    decodeTotalsToken(new Uint8Array(40)),
  ]).toEqual([undefined, undefined, undefined]);
});

test("a token of the version before is read as one without unreadable items", () => {
  const old = new Uint8Array(19);
  old.set([0x47, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 2, 8, 9]);
  expect(decodeTotalsToken(old)).toEqual({ items: 7, failed: 2, unreadable: 0, inner: Uint8Array.of(8, 9) });
});

test("counts go on from the token, across any number of holders, and hand the inner sink its own token", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(fc.constantFrom("done", "Failure", "Problem"), { maxLength: 10 }), {
        minLength: 1,
        maxLength: 5,
      }),
      async (holders) => {
        const inner = memorySink();
        const sink = countingSink<Item, boolean>(inner.sink);
        let token: Uint8Array | undefined;
        for (const [index, results] of holders.entries()) {
          const opened = await sink.open({ shard, fence: FenceEpoch.fromRaw(BigInt(index + 1)), token });
          for (const result of results) {
            if (result === "done") opened.write(item, true);
            else if (result === "Failure")
              opened.skip!({ kind: result, key: item.key, item, attempts: 1, cause: "no" });
            else opened.skip!({ kind: result, key: item.key, reason: "unreadable" });
          }
          token = await opened.flush();
          // What is written and never flushed is done again by the next holder.
          opened.write(item, true);
          opened.skip!({ kind: "Problem", key: item.key, reason: "unreadable" });
          await opened.close();
        }
        const all = holders.flat();
        const unreadable = all.filter((result) => result === "Problem").length;
        const failed = all.filter((result) => result === "Failure").length;
        expect(decodeTotalsToken(token)).toMatchObject({ items: all.length - unreadable, failed, unreadable });
        expect(inner.tokensGiven).toEqual(holders.map((_, index) => (index === 0 ? undefined : Uint8Array.of(index))));
      },
    ),
  );
});

/** A sink whose token is the number of its flushes. */
function memorySink(): { readonly sink: Sink<Item, boolean>; readonly tokensGiven: (Uint8Array | undefined)[] } {
  const tokensGiven: (Uint8Array | undefined)[] = [];
  let flushes = 0;
  return {
    tokensGiven,
    sink: {
      async open({ token }) {
        tokensGiven.push(token);
        return { write: () => {}, flush: async () => Uint8Array.of(++flushes), close: async () => {} };
      },
    },
  };
}
