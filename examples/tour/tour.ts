// What `npm start` shows, in order. Every line is said after the thing was done.
import { OwnershipTable, renderReply, Scope } from "@gossip/scope";
import { unwrap } from "@gossip/stdx";
import { Epoch, WindowAllocator } from "@gossip/tso";
import { hashFile, listFiles } from "./files.ts";
import { hashTheTree, type Say } from "./hash-the-tree.ts";

export async function tour(say: Say): Promise<void> {
  say("Gossip: a tour of the packages so far. The command that does this to a tree of your own, `gossip run`, is still to come.");

  say("\nHash every file of this repository (frontier, coordination, in memory)");
  const files = listFiles();
  const results = await hashTheTree(files, (line) => say(`  ${line}`));
  const missing = files.filter((file) => !results.has(file.path)).length;
  const repeated = [...results.values()].filter((digests) => digests.length > 1).length;
  const wrong = files.filter((file) => results.get(file.path)?.[0] !== hashFile(file.path)).length;
  say(`  checked against a plain pass over the files: ${missing} missing, ${repeated} hashed twice, ${wrong} wrong`);
  if (missing + repeated + wrong > 0) throw new Error("the tour lost or repeated work");

  say("\nStrictly increasing timestamps, whatever the clock does (tso)");
  const allocator = new WindowAllocator();
  unwrap(allocator.seed({ floorMs: 5_000, ceilingMs: 8_000, epoch: Epoch.fromRaw(1n) }));
  for (const nowMs of [5_000, 6_000, 4_000]) {
    const { physicalMs, logicalStart } = unwrap(allocator.tryGrant(nowMs, 1));
    say(`  the clock says ${nowMs} ms, the timestamp is ${physicalMs} ms and ${logicalStart}`);
  }

  say("\nWho may write under which prefix (scope)");
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
  const billing = new Scope({ prefix: bytes("app:billing:"), writer: "billing-1:7000" });
  const auth = new Scope({ prefix: bytes("app:auth:"), writer: "auth-1:7000" });
  const table = unwrap(OwnershipTable.build([billing, auth]));
  for (const node of [billing.writer, auth.writer]) {
    const reply = renderReply(table.route(bytes("app:billing:invoice:42"), node), (writer) => writer);
    say(`  an invoice written at ${node}: ${reply ?? "accepted"}`);
  }
}
