// What one would use in place of our table to find the prefix of a key: each answers its position, or -1.
import findMyWay from "find-my-way";
import { Memoirist } from "memoirist";
import { TrieMap } from "mnemonist";
import { createRouter as createRadix3 } from "radix3";
import { addRoute, createRouter as createRou3, findRoute } from "rou3";
import { compareBytes, startsWith } from "@gossip/stdx";

export type FindText = (key: string) => number;
export type FindBytes = (key: Uint8Array) => number;

export function linearScan(prefixes: readonly string[]): FindText {
  return (key) => {
    for (let position = 0; position < prefixes.length; position++) {
      if (key.startsWith(prefixes[position]!)) return position;
    }
    return -1;
  };
}

/** A map for each length that occurs, the longest first. */
export function mapPerLength(prefixes: readonly string[]): FindText {
  const byLength = new Map<number, Map<string, number>>();
  for (const [position, prefix] of prefixes.entries()) {
    const map = byLength.get(prefix.length) ?? new Map<string, number>();
    byLength.set(prefix.length, map.set(prefix, position));
  }
  const maps = [...byLength].sort(([a], [b]) => b - a);
  return (key) => {
    for (const [length, map] of maps) {
      const position = length <= key.length ? map.get(key.slice(0, length)) : undefined;
      if (position !== undefined) return position;
    }
    return -1;
  };
}

/** The greatest prefix that is not above the key is the only one that can match. */
export function sortedStrings(prefixes: readonly string[]): FindText {
  const order = prefixes.map((_, position) => position).sort((a, b) => (prefixes[a]! < prefixes[b]! ? -1 : 1));
  const sorted = order.map((position) => prefixes[position]!);
  return (key) => {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (sorted[middle]! <= key) low = middle + 1;
      else high = middle;
    }
    return low > 0 && key.startsWith(sorted[low - 1]!) ? order[low - 1]! : -1;
  };
}

export function sortedBytes(prefixes: readonly Uint8Array[]): FindBytes {
  const order = prefixes.map((_, position) => position).sort((a, b) => compareBytes(prefixes[a]!, prefixes[b]!));
  const sorted = order.map((position) => prefixes[position]!);
  return (key) => {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareBytes(sorted[middle]!, key) <= 0) low = middle + 1;
      else high = middle;
    }
    return low > 0 && startsWith(key, sorted[low - 1]!) ? order[low - 1]! : -1;
  };
}

/** Its own search answers the keys under a prefix, the other way round; so its nodes are walked, which its author did not mean to be done. */
export function mnemonistTrie(prefixes: readonly string[]): FindText {
  const trie = new TrieMap<string, number>();
  for (const [position, prefix] of prefixes.entries()) trie.set(prefix, position);
  interface Node {
    readonly [token: string]: Node | number | undefined;
  }
  const { root } = trie as unknown as { readonly root: Node };
  return (key) => {
    let node = root;
    for (let index = 0; index < key.length; index++) {
      const next = node[key[index]!] as Node | undefined;
      if (next === undefined) return -1;
      const position = next["\0"] as number | undefined;
      if (position !== undefined) return position;
      node = next;
    }
    return -1;
  };
}

/** For routers a key is a path. Turning one into the other is not counted: it is done before. */
export function toPath(key: string): string {
  return `/${key.replaceAll(":", "/")}`;
}

export function findMyWayRouter(prefixes: readonly string[]): FindText {
  const router = findMyWay();
  const handler = (): void => {};
  for (const [position, prefix] of prefixes.entries()) router.on("GET", `${toPath(prefix)}*`, handler, { position });
  return (path) => (router.find("GET", path)?.store as { readonly position: number } | undefined)?.position ?? -1;
}

export function radix3Router(prefixes: readonly string[]): FindText {
  const router = createRadix3<{ position: number }>();
  for (const [position, prefix] of prefixes.entries()) router.insert(`${toPath(prefix)}**`, { position });
  return (path) => router.lookup(path)?.position ?? -1;
}

export function rou3Router(prefixes: readonly string[]): FindText {
  const router = createRou3<{ position: number }>();
  for (const [position, prefix] of prefixes.entries()) addRoute(router, "GET", `${toPath(prefix)}**`, { position });
  return (path) => findRoute(router, "GET", path)?.data.position ?? -1;
}

export function memoiristRouter(prefixes: readonly string[]): FindText {
  const router = new Memoirist<number>();
  for (const [position, prefix] of prefixes.entries()) router.add("GET", `${toPath(prefix)}*`, position);
  return (path) => router.find("GET", path)?.store ?? -1;
}
