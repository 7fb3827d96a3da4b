import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "./sync-folder.ts";
import type { StagedMove, StagingLog } from "./staging.ts";

const FILE = "staged.json";

/** What is staged, in one small file that is replaced with every change. */
export class StagingFile implements StagingLog {
  readonly #path: string;
  readonly #moves: Map<string, StagedMove>;

  /** Read the file of a folder. One that is missing holds nothing. Throws if it cannot be read. */
  static async open(folder: string): Promise<StagingFile> {
    const path = join(folder, FILE);
    try {
      return new StagingFile(path, readMoves(await readFile(path, "utf8")));
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return new StagingFile(path, []);
      throw thrown;
    }
  }

  private constructor(path: string, moves: readonly StagedMove[]) {
    this.#path = path;
    this.#moves = new Map(moves.map((move) => [move.id, move]));
  }

  list(): readonly StagedMove[] {
    return [...this.#moves.values()];
  }

  async put(move: StagedMove): Promise<void> {
    await this.#write([...this.list().filter(({ id }) => id !== move.id), move]);
    this.#moves.set(move.id, move);
  }

  async remove(id: string): Promise<void> {
    await this.#write(this.list().filter((move) => move.id !== id));
    this.#moves.delete(id);
  }

  async #write(moves: readonly StagedMove[]): Promise<void> {
    const json = moves.map(({ prefix, ...rest }) => ({ ...rest, prefix: Buffer.from(prefix).toString("base64url") }));
    await replaceFile(this.#path, `${JSON.stringify(json)}\n`);
  }
}

function readMoves(text: string): StagedMove[] {
  const json = JSON.parse(text) as readonly (Omit<StagedMove, "prefix"> & { readonly prefix: string })[];
  return json.map(({ id, prefix, frames, isComplete }) => ({
    id,
    prefix: Buffer.from(prefix, "base64url"),
    frames,
    isComplete,
  }));
}
