import { RunId } from "@gossip/contracts";
import { deriveKeyHasher } from "@gossip/contracts/internal";
import { maskCommand } from "@gossip/insight";
import { decodeUtf8 } from "../../output/printable.ts";
import { canonicalSelection, readSelection, selectionText, type Selection } from "../source/selection.ts";

/**
 * The settings that identify a run. They are stored with its shards, where every machine can see them, and therefore
 * contain no credentials.
 */
export interface RunSettings {
  /** The name that the user gave. `undefined` if the run is identified by its settings. */
  readonly name: string | undefined;
  /** `fs:/data`, `lines:/urls.txt`, `postgres:host/database#table`. */
  readonly source: string;
  /** The part of the source. */
  readonly selection: Selection;
  readonly exec: string | undefined;
  /** The command of long-lived processes. */
  readonly pipe?: string | undefined;
  /** An absolute path. */
  readonly module: string | undefined;
  /** The name of the list that the run works on, if it was stored. Not a part of what identifies the run. */
  readonly list?: string | undefined;
  /** An absolute path, so that results are found again from any folder. */
  readonly out: string | undefined;
}

const SETTINGS_HASHER = /* @__PURE__ */ deriveKeyHasher("gossip/cli/v1/run-settings");
const ID_HASHER = /* @__PURE__ */ deriveKeyHasher("gossip/cli/v1/run-id");

/** A longer command is shown truncated. The fingerprint covers all of it. */
const MAX_SHOWN_COMMAND = 400;

/** The same for the same work, regardless of the run's name. */
export function fingerprintOf({ source, selection, exec, module, pipe, out }: RunSettings): string {
  const parts = canonicalSelection(selection);
  // Runs of earlier versions have no selection, and keep their fingerprint.
  const selected = Object.keys(parts).length === 0 ? [] : [parts];
  const piped = pipe === undefined ? [] : [{ pipe }];
  const canonical = JSON.stringify([source, exec ?? null, module ?? null, out ?? null, ...selected, ...piped]);
  return Buffer.from(SETTINGS_HASHER.hash32(Buffer.from(canonical))).toString("hex");
}

/**
 * The id of a run, derived from its name if it has one, otherwise from its settings.
 *
 * An id can be used only once. A run that was deleted, or is started over, needs another one: the next `generation`.
 */
export function runIdOf(settings: RunSettings, generation: number): RunId {
  return settings.name === undefined
    ? idOf(["settings", fingerprintOf(settings)], generation)
    : namedRunId(settings.name, generation);
}

/** The id of the run with a name. */
export function namedRunId(name: string, generation: number): RunId {
  return idOf(["name", name], generation);
}

function idOf(identity: readonly string[], generation: number): RunId {
  return RunId.fromRaw(ID_HASHER.hash64(Buffer.from(JSON.stringify([...identity, generation]))));
}

/** The settings as others may see them: without credentials, and with long commands truncated. */
export function shownSettings(settings: RunSettings): RunSettings {
  const { exec, pipe, ...rest } = settings;
  return { ...rest, exec: shownCommand(exec), pipe: shownCommand(pipe) };
}

function shownCommand(command: string | undefined): string | undefined {
  if (command === undefined) return undefined;
  const masked = maskCommand(command);
  return masked.length > MAX_SHOWN_COMMAND ? `${masked.slice(0, MAX_SHOWN_COMMAND)}…` : masked;
}

/** The bytes stored with every shard. The same for the same settings. */
export function encodeSettings(settings: RunSettings): Uint8Array {
  const { name, source, exec, module, pipe, out, list } = shownSettings(settings);
  const parts = canonicalSelection(settings.selection);
  const selection = Object.keys(parts).length === 0 ? undefined : parts;
  return Buffer.from(
    JSON.stringify({
      gossip: 1,
      name,
      source,
      selection,
      exec,
      module,
      pipe,
      out,
      list,
      fingerprint: fingerprintOf(settings),
    }),
  );
}

/** Decode the result of `encodeSettings`, with the fingerprint. Returns `undefined` for bytes of another program. */
export function decodeSettings(bytes: Uint8Array): (RunSettings & { readonly fingerprint: string }) | undefined {
  const text = decodeUtf8(bytes);
  if (text === undefined || !text.startsWith("{")) return undefined;
  try {
    const read = JSON.parse(text) as Record<string, unknown>;
    if (read["gossip"] !== 1) return undefined;
    const textOf = (name: string): string | undefined => (typeof read[name] === "string" ? read[name] : undefined);
    return {
      name: textOf("name"),
      source: textOf("source") ?? "",
      selection: readSelection(read["selection"]),
      // Mask again: an earlier version masked less.
      exec: maskedText(textOf("exec")),
      module: textOf("module"),
      pipe: maskedText(textOf("pipe")),
      out: textOf("out"),
      list: textOf("list"),
      fingerprint: textOf("fingerprint") ?? "",
    };
  } catch {
    return undefined;
  }
}

function maskedText(command: string | undefined): string | undefined {
  return command === undefined ? undefined : maskCommand(command);
}

/** A short description of the work. */
export function describeWork(settings: RunSettings): string {
  const { source, selection, exec, module, pipe } = shownSettings(settings);
  return `${source}${selectionText(selection)} through ${exec ?? module ?? pipe ?? "?"}`;
}
