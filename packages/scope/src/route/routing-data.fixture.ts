// Prefixes and keys for benches: names of two or three parts, the same in every run.

export interface RoutingData {
  /** Each ends with a colon, and none is inside another. */
  readonly prefixes: readonly string[];
  readonly keys: readonly string[];
}

const WORDS = [
  "app",
  "billing",
  "auth",
  "invoice",
  "session",
  "tenant",
  "cart",
  "stock",
  "ledger",
  "audit",
  "mail",
  "queue",
  "index",
  "photo",
  "video",
  "report",
  "user",
  "group",
  "eu",
  "us",
  "asia",
  "prod",
  "stage",
  "dev",
];

/** Of the keys, nine in ten are under a prefix, one in twenty nearly, and one in twenty not at all. */
export function makeRoutingData(prefixCount: number, keyCount: number): RoutingData {
  const random = seededRandom(7);
  const below = (limit: number): number => Math.floor(random() * limit);
  const word = (): string => WORDS[below(WORDS.length)]!;

  const prefixes = new Set<string>();
  while (prefixes.size < prefixCount) {
    // A part with a number is never followed by one without: then no prefix is inside another.
    const parts = random() < 0.5 ? [word()] : [word(), word()];
    prefixes.add(`${parts.join(":")}:${word()}${below(Math.max(10, prefixCount))}:`);
  }
  const list = [...prefixes];
  const keys = Array.from({ length: keyCount }, () => {
    const prefix = list[below(list.length)]!;
    const chance = random();
    if (chance < 0.9) return flat(`${prefix}object${below(1_000_000)}`);
    return flat(
      chance < 0.95 ? `${prefix.slice(0, -2)}~${below(100_000_000)}` : `zz:${below(1_000_000_000)}:elsewhere`,
    );
  });
  return { prefixes: list, keys };
}

/** As a key comes off a wire: in one piece. A string put together from parts stays in parts, and every reader pays for that. */
function flat(text: string): string {
  return new TextDecoder().decode(new TextEncoder().encode(text));
}

/** The same numbers in every run: what is compared must not differ from run to run. */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
