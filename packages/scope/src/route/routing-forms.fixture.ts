// One comparison of our table with everything else, at one size.
import { OwnershipTable, Scope } from "@gossip/scope";
import { unwrap } from "@gossip/stdx";
import { compare } from "@gossip/tools/bench";
import {
  findMyWayRouter,
  linearScan,
  mapPerLength,
  memoiristRouter,
  mnemonistTrie,
  radix3Router,
  rou3Router,
  sortedBytes,
  sortedStrings,
  toPath,
} from "./alternatives.fixture.ts";
import { makeRoutingData } from "./routing-data.fixture.ts";

const NODES = ["node-a", "node-b", "node-c"];

/**
 * Compare routes and lookups over this many prefixes.
 *
 * Every form is shown to give the same answers before it is measured. `keyCount` is a power of two:
 * enough keys that the prefixes they reach do not all stay in the nearest cache.
 */
export function compareRouting(prefixCount: number, keyCount: number): void {
  const { prefixes, keys } = makeRoutingData(prefixCount, keyCount);
  const encoder = new TextEncoder();
  const byteKeys = keys.map((key) => encoder.encode(key));
  const paths = keys.map(toPath);
  const scopes = prefixes.map((prefix, position) => new Scope({ prefix, writer: NODES[position % NODES.length]! }));
  const table = unwrap(OwnershipTable.build(scopes));
  const positions = new Map(scopes.map((scope, position) => [scope, position]));

  const last = keyCount - 1;
  const scan = linearScan(prefixes);
  const maps = mapPerLength(prefixes);
  const strings = sortedStrings(prefixes);
  const sorted = sortedBytes(prefixes.map((prefix) => encoder.encode(prefix)));
  const trie = mnemonistTrie(prefixes);
  const findMyWay = findMyWayRouter(prefixes);
  const radix3 = radix3Router(prefixes);
  const rou3 = rou3Router(prefixes);
  const memoirist = memoiristRouter(prefixes);
  // Written out one by one: functions made by one loop would share what the compiler learns about them, and be slower for it.
  const onText = {
    "linear scan": (call: number) => scan(keys[call & last]!),
    "map per length": (call: number) => maps(keys[call & last]!),
    "sorted strings": (call: number) => strings(keys[call & last]!),
    "mnemonist trie": (call: number) => trie(keys[call & last]!),
  };
  const alternatives = {
    ...onText,
    "sorted bytes": (call: number) => sorted(byteKeys[call & last]!),
    "find-my-way": (call: number) => findMyWay(paths[call & last]!),
    radix3: (call: number) => radix3(paths[call & last]!),
    rou3: (call: number) => rou3(paths[call & last]!),
    memoirist: (call: number) => memoirist(paths[call & last]!),
  };

  for (let call = 0; call < Math.min(keyCount, 2_000); call++) {
    const scope = table.lookup(byteKeys[call]!);
    const expected = scope === undefined ? -1 : positions.get(scope)!;
    for (const [name, find] of Object.entries(alternatives)) {
      if (find(call) !== expected) throw new Error(`${name} answers differently for key ${call}`);
    }
  }

  // A verdict is made when a scope is first asked for, and kept: here every scope has been.
  for (const key of byteKeys) table.route(key, "node-b");
  compare(`route a random key, ${prefixCount.toLocaleString("en")} prefixes`, {
    forms: {
      route: (call) => table.route(byteKeys[call & last]!, "node-b"),
      lookup: (call) => table.lookup(byteKeys[call & last]!),
      "lookup, text": (call) => table.lookup(keys[call & last]!),
      ...alternatives,
    },
    bounds: [
      { form: "route", ratioAtMost: 1, toBestOf: Object.keys(alternatives) },
      { form: "lookup", ratioAtMost: 1, toBestOf: Object.keys(alternatives) },
      // A convenience, held to what else takes text: about as fast among ten prefixes, faster among more.
      { form: "lookup, text", ratioAtMost: 1.25, toBestOf: Object.keys(onText) },
      { form: "route", heapBytesAtMost: 0 },
      { form: "lookup", heapBytesAtMost: 0 },
      { form: "lookup, text", heapBytesAtMost: 0 },
    ],
  });
}

/** Fewer prefixes where a form is only shown to run: a router of 100,000 routes takes ten seconds to build. */
export function unlessSmoke(count: number): number {
  return process.argv.includes("--smoke") ? Math.min(count, 1_000) : count;
}
