import { OwnershipTable, Scope } from "@gossip/scope";
import { compareBytes, unwrap } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";
import { makeRoutingData, seededRandom } from "../route/routing-data.fixture.ts";
import { unlessSmoke } from "../route/routing-forms.fixture.ts";

// Building a table means sorting its prefixes, at the least. Here is what the rest costs, and that it stays in proportion.
const random = seededRandom(3);
const COUNT = unlessSmoke(100_000);
const { prefixes } = makeRoutingData(COUNT, 1);
const scopes = prefixes
  .map((prefix) => ({ scope: new Scope({ prefix, writer: "node-a" }), rank: random() }))
  .sort((a, b) => a.rank - b.rank)
  .map(({ scope }) => scope);
const bytes = scopes.map(({ prefix }) => prefix);
const tenth = scopes.slice(0, COUNT / 10);

compare(`build a table of ${COUNT.toLocaleString("en")} scopes`, {
  forms: {
    build: () => unwrap(OwnershipTable.build(scopes)),
    "ten tables of a tenth": () => {
      for (let turn = 0; turn < 9; turn++) unwrap(OwnershipTable.build(tenth));
      return unwrap(OwnershipTable.build(tenth));
    },
    "sort the prefixes": () => bytes.toSorted(compareBytes),
  },
  bounds: [
    { form: "build", ratioAtMost: 2, toBestOf: ["sort the prefixes"] },
    { form: "build", ratioAtMost: 2.5, toBestOf: ["ten tables of a tenth"] },
  ],
  options: { rounds: 15, sampleMs: 100, measureHeap: false },
});
