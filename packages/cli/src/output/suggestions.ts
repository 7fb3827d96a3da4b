/** What a suggested command needs to name the same store, run and shard as the command that prints it. */
export interface SuggestionContext {
  /** The options that name the store, as words of a shell. */
  readonly storeOptions: readonly string[];
  readonly run?: string | undefined;
  readonly shard?: string | undefined;
}

/** A command in a message: between backticks, as `gossip unpark RUN SHARD`. */
const SUGGESTION = /`gossip ([a-z]+)([^`]*)`/g;
/** Commands that work without a store, or elsewhere with one of their own. */
const WITHOUT_STORE = new Set(["keys", "tso", "help", "serve"]);
const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/**
 * Complete the commands that a message suggests, so that they work as printed: `RUN` and `SHARD` become the run and the
 * shard that the command is about, and the options that name its store are added.
 */
export function completeSuggestions(text: string, { storeOptions, run, shard }: SuggestionContext): string {
  return text.replaceAll(SUGGESTION, (_all, command: string, rest: string) => {
    const named = rest.replace(/ RUN\b/, wordAfter(run)).replace(/ SHARD\b/, wordAfter(shard));
    const needsStore = !WITHOUT_STORE.has(command) && !named.includes("--help") && !named.includes("--store ");
    return `\`gossip ${[`${command}${named}`, ...(needsStore ? storeOptions : [])].join(" ")}\``;
  });
}

function wordAfter(text: string | undefined): () => string {
  return () => (text === undefined ? "" : ` ${shellWord(text)}`);
}

/** Quote `text` as one word of a shell, if it needs quotes. */
export function shellWord(text: string): string {
  return PLAIN_WORD.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
