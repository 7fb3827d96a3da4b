import { RunId } from "@gossip/contracts";
import { deriveKeyHasher } from "@gossip/contracts/internal";
import { maskCommand } from "../../output/mask-credentials.ts";
import { decodeUtf8 } from "../../output/printable.ts";

/**
 * What a run is for: what makes it this one and not another. Kept with its shards, where every machine can see it, and
 * therefore without credentials.
 */
export interface RunSettings {
  /** As a person named it; `undefined` where the settings alone name it. */
  readonly name: string | undefined;
  /** `fs:/data`, `lines:/urls.txt`, `postgres:host/database#table`. */
  readonly source: string;
  readonly exec: string | undefined;
  /** An absolute path. */
  readonly module: string | undefined;
  /** An absolute path: results that are elsewhere would not be found again. */
  readonly out: string | undefined;
}

const SETTINGS_HASHER = /* @__PURE__ */ deriveKeyHasher("gossip/cli/v1/run-settings");
const ID_HASHER = /* @__PURE__ */ deriveKeyHasher("gossip/cli/v1/run-id");

/** A command longer than this is shown cut short; the fingerprint is of all of it. */
const MAX_SHOWN_COMMAND = 400;

/** Equal for equal work, whatever the run is called. */
export function fingerprintOf({ source, exec, module, out }: RunSettings): string {
  const canonical = JSON.stringify([source, exec ?? null, module ?? null, out ?? null]);
  return Buffer.from(SETTINGS_HASHER.hash32(Buffer.from(canonical))).toString("hex");
}

/**
 * The id of a run: by its name where it has one, else by its settings.
 *
 * An id can be used once only, so a run that was deleted, or is to be done again, needs another: the next `generation`.
 */
export function runIdOf(settings: RunSettings, generation: number): RunId {
  const identity = settings.name === undefined ? ["settings", fingerprintOf(settings)] : ["name", settings.name];
  return RunId.fromRaw(ID_HASHER.hash64(Buffer.from(JSON.stringify([...identity, generation]))));
}

/** The settings as others may see them: no credentials, and no more of a command than people read. */
export function shownSettings(settings: RunSettings): RunSettings {
  const exec = settings.exec === undefined ? undefined : maskCommand(settings.exec);
  return {
    ...settings,
    exec: exec !== undefined && exec.length > MAX_SHOWN_COMMAND ? `${exec.slice(0, MAX_SHOWN_COMMAND)}…` : exec,
  };
}

/** The bytes that are kept with every shard. Equal for equal settings. */
export function encodeSettings(settings: RunSettings): Uint8Array {
  const { name, source, exec, module, out } = shownSettings(settings);
  return Buffer.from(
    JSON.stringify({ gossip: 1, name, source, exec, module, out, fingerprint: fingerprintOf(settings) }),
  );
}

/** What `encodeSettings` wrote, with the fingerprint. `undefined` for bytes of somebody else. */
export function decodeSettings(bytes: Uint8Array): (RunSettings & { readonly fingerprint: string }) | undefined {
  const text = decodeUtf8(bytes);
  if (text === undefined || !text.startsWith("{")) return undefined;
  try {
    const read = JSON.parse(text) as Record<string, unknown>;
    if (read["gossip"] !== 1) return undefined;
    const exec = read["exec"];
    const textOf = (name: string): string | undefined => (typeof read[name] === "string" ? read[name] : undefined);
    return {
      name: textOf("name"),
      source: textOf("source") ?? "",
      // Masked when it was written; an earlier version masked less.
      exec: typeof exec === "string" ? maskCommand(exec) : undefined,
      module: textOf("module"),
      out: textOf("out"),
      fingerprint: textOf("fingerprint") ?? "",
    };
  } catch {
    return undefined;
  }
}

/** The work in a few words. */
export function describeWork(settings: RunSettings): string {
  const { source, exec, module } = shownSettings(settings);
  return exec === undefined ? `${source} through ${module ?? "?"}` : `${source} through ${exec}`;
}
