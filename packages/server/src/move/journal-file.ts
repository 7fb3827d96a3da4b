import { decodeJournal, encodeJournalEntry, type CorruptJournal, type JournalEntry } from "@gossip/scope";
import { err, ok, type Result } from "@gossip/stdx";
import { mkdir, open, readFile, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "./sync-folder.ts";

/** Where a node writes what it has decided. A promise resolves once the entry is durable. */
export interface OwnershipJournal {
  append(entry: JournalEntry): Promise<void>;
}

/** Why a journal cannot be opened. */
export type JournalError = CorruptJournal | { readonly kind: "JournalUnreadable"; readonly code: string };

const FILE = "ownership.journal";

/** The journal in a folder: one line of JSON for each entry, synced before it counts. */
export class JournalFile implements OwnershipJournal {
  readonly #folder: string;
  #handle: FileHandle | undefined;
  /** The size of the lines that are durable. */
  #size = 0;

  /** Open the journal of a folder, and read its entries. A new one has none: `restart` it with a checkpoint. */
  static async open(
    folder: string,
  ): Promise<Result<{ readonly journal: JournalFile; readonly entries: readonly JournalEntry[] }, JournalError>> {
    try {
      await mkdir(folder, { recursive: true });
      const journal = new JournalFile(folder);
      const text = await readText(join(folder, FILE));
      if (text === undefined) return ok({ journal, entries: [] });
      const entries = decodeJournal(text);
      if (!entries.ok) return entries;
      // A last line without its end was never reported as durable. The next entry takes its place.
      await journal.#openAt(Buffer.byteLength(text.slice(0, text.lastIndexOf("\n") + 1)));
      return ok({ journal, entries: entries.value });
    } catch (thrown) {
      const { code = "UNKNOWN" } = thrown as NodeJS.ErrnoException;
      return err({ kind: "JournalUnreadable", code });
    }
  }

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Replace all entries by a checkpoint: the new file takes the place of the old one in one step. */
  async restart(checkpoint: JournalEntry): Promise<void> {
    const path = join(this.#folder, FILE);
    const line = lineOf(checkpoint);
    await this.close();
    await replaceFile(path, line);
    await this.#openAt(line.length);
  }

  async append(entry: JournalEntry): Promise<void> {
    const line = lineOf(entry);
    const handle = this.#handle;
    if (handle === undefined) throw new Error("the journal is closed");
    await handle.write(line, 0, line.length, this.#size);
    await handle.datasync();
    this.#size += line.length;
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }

  async #openAt(size: number): Promise<void> {
    this.#handle = await open(join(this.#folder, FILE), "r+");
    await this.#handle.truncate(size);
    await this.#handle.datasync();
    this.#size = size;
  }
}

function lineOf(entry: JournalEntry): Buffer {
  return Buffer.from(`${encodeJournalEntry(entry)}\n`);
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw thrown;
  }
}
