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

  const onText = { "linear scan": linearScan(prefixes), "map per length": mapPerLength(prefixes), "sorted strings": sortedStrings(prefixes), "mnemonist trie": mnemonistTrie(prefixes) };
  const onBytes = { "sorted bytes": sortedBytes(prefixes.map((prefix) => encoder.encode(prefix))) };
  const onPaths = { "find-my-way": findMyWayRouter(prefixes), radix3: radix3Router(prefixes), rou3: rou3Router(prefixes), memoirist: memoiristRouter(prefixes) };
  const alternatives = {
    ...walking(onText, keys),
    ...walking(onBytes, byteKeys),
    ...walking(onPaths, paths),
  };

  const last = keyCount - 1;
  for (let call = 0; call < Math.min(keyCount, 2_000); call++) {
    const scope = table.lookup(byteKeys[call]!);
    const expected = scope === undefined ? -1 : positions.get(scope)!;
    for (const [name, find] of Object.entries(alternatives)) {
      if (find(call) !== expected) throw new Error(`${name} answers differently for key ${call}`);
    }
  }

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
      { form: "lookup, text", ratioAtMost: 1, toBestOf: Object.keys(alternatives) },
      { form: "route", heapBytesAtMost: 0 },
      { form: "lookup", heapBytesAtMost: 0 },
      { form: "lookup, text", heapBytesAtMost: 0 },
    ],
  });

  /** Forms that walk over prepared keys. Each has a closure of its own, so that the compiler can specialise it. */
  function walking<K>(finders: Record<string, (key: K) => number>, prepared: readonly K[]): Record<string, (call: number) => number> {
    return Object.fromEntries(Object.entries(finders).map(([name, find]) => [name, (call: number) => find(prepared[call & (keyCount - 1)]!)]));
  }
}

/** Fewer prefixes where a form is only shown to run: a router of 100,000 routes takes ten seconds to build. */
export function unlessSmoke(count: number): number {
  return process.argv.includes("--smoke") ? Math.min(count, 1_000) : count;
}
