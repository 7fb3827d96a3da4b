import { dirname } from "node:path";
import type { PartFiles, ReadFile, WrittenFile } from "./part-files.ts";

/** Thrown by every call after the simulated crash. */
export class Crash extends Error {
  override readonly name = "Crash";
}

interface Inode {
  bytes: Buffer;
  /** The bytes that are certainly on disk. */
  durable: Buffer;
}

/**
 * An in-memory file system that can crash after any step. Every written byte and every other call is a step.
 *
 * A killed process loses nothing that it wrote. A machine that loses power keeps what was synced; of later bytes it
 * keeps any number and any garbage, and of names in folders not synced since, either state.
 */
export class CrashingFiles implements PartFiles {
  readonly #names = new Map<string, Inode>();
  readonly #durableNames = new Map<string, Inode>();
  readonly #folders = new Set<string>(["/"]);
  #stepsLeft = Infinity;
  #room = Infinity;
  #life = 0;
  /** Steps so far. */
  steps = 0;

  /** Crash after so many further steps. */
  crashAfter(steps: number): void {
    this.#stepsLeft = steps;
  }

  /** How many more bytes fit on the disk. */
  limitRoom(bytes: number): void {
    this.#room = bytes;
  }

  /**
   * Start over after a crash. Earlier handles are dead. `random` decides what a power loss left; without it, only the
   * process died.
   */
  recover(random?: (bound: number) => number): void {
    this.#stepsLeft = Infinity;
    this.#life++;
    if (random === undefined) return;
    const all = new Set([...this.#names.keys(), ...this.#durableNames.keys()]);
    for (const name of all) {
      const [now, then] = [this.#names.get(name), this.#durableNames.get(name)];
      if (now !== then && random(2) === 0) this.#setName(this.#names, name, then);
    }
    this.#durableNames.clear();
    for (const [name, inode] of this.#names) {
      this.#durableNames.set(name, inode);
      const tail = Buffer.from(
        inode.bytes.subarray(inode.durable.length, inode.durable.length + random(inode.bytes.length + 1)),
      );
      if (tail.length > 0 && random(2) === 0) tail[random(tail.length)]! ^= 0xff;
      inode.bytes = Buffer.concat([inode.durable, tail]);
    }
  }

  /** The names of all files. */
  list(): readonly string[] {
    return [...this.#names.keys()].sort();
  }

  bytes(path: string): Buffer | undefined {
    return this.#names.get(path)?.bytes;
  }

  content(path: string): string | undefined {
    return this.#names.get(path)?.bytes.toString("utf8");
  }

  async makeFolder(path: string): Promise<void> {
    this.#step();
    for (let folder = path; folder !== "/"; folder = dirname(folder)) this.#folders.add(folder);
  }

  async create(path: string): Promise<WrittenFile> {
    this.#step();
    if (!this.#folders.has(dirname(path))) throw systemError("ENOENT");
    if (this.#names.has(path)) throw systemError("EEXIST");
    const inode: Inode = { bytes: Buffer.alloc(0), durable: Buffer.alloc(0) };
    this.#names.set(path, inode);
    const life = this.#life;
    return {
      write: async (bytes, position) => this.#write(inode, bytes, position, life),
      sync: async () => {
        this.#step(life);
        inode.durable = Buffer.from(inode.bytes);
      },
      close: async () => undefined,
    };
  }

  async syncFolder(path: string): Promise<void> {
    this.#step();
    for (const name of new Set([...this.#names.keys(), ...this.#durableNames.keys()])) {
      if (dirname(name) === path) this.#setName(this.#durableNames, name, this.#names.get(name));
    }
  }

  async open(path: string): Promise<ReadFile> {
    this.#step();
    const inode = this.#names.get(path);
    if (inode === undefined) throw systemError("ENOENT");
    return {
      read: async (out, position) => inode.bytes.copy(out, 0, position, position + out.length),
      close: async () => undefined,
    };
  }

  async rename(from: string, to: string): Promise<void> {
    this.#step();
    if (!this.#folders.has(dirname(to))) throw systemError("ENOENT");
    const inode = this.#names.get(from);
    if (inode !== undefined) {
      if (this.#folders.has(to)) throw systemError("EISDIR");
      this.#names.delete(from);
      this.#names.set(to, inode);
      return;
    }
    if (!this.#folders.has(from)) throw systemError("ENOENT");
    if (this.list().some((name) => name.startsWith(`${to}/`))) throw systemError("ENOTEMPTY");
    this.#folders.delete(from);
    this.#folders.add(to);
    for (const name of this.#folders) {
      if (!name.startsWith(`${from}/`)) continue;
      this.#folders.delete(name);
      this.#folders.add(to + name.slice(from.length));
    }
    for (const [name, file] of this.#names) {
      if (!name.startsWith(`${from}/`)) continue;
      this.#names.delete(name);
      this.#names.set(to + name.slice(from.length), file);
    }
  }

  async removeFolder(path: string): Promise<void> {
    for (const name of this.list()) {
      if (!name.startsWith(`${path}/`)) continue;
      this.#step();
      this.#names.delete(name);
    }
    this.#step();
    for (const name of this.#folders) if (name === path || name.startsWith(`${path}/`)) this.#folders.delete(name);
  }

  async removeEmptyFolder(path: string): Promise<void> {
    this.#step();
    if (![...this.list(), ...this.#folders].some((name) => name.startsWith(`${path}/`))) this.#folders.delete(path);
  }

  #write(inode: Inode, bytes: Uint8Array, position: number, life: number): void {
    for (const [index, byte] of bytes.entries()) {
      this.#step(life);
      if (inode.bytes.length <= position + index) {
        if (this.#room-- <= 0) {
          this.#room = 0;
          throw systemError("ENOSPC");
        }
        inode.bytes = Buffer.concat([inode.bytes, Buffer.alloc(1)]);
      }
      inode.bytes[position + index] = byte;
    }
  }

  #step(life = this.#life): void {
    if (life !== this.#life || this.#stepsLeft <= 0) throw new Crash("the process is no more");
    this.#stepsLeft--;
    this.steps++;
  }

  #setName(names: Map<string, Inode>, name: string, inode: Inode | undefined): void {
    if (inode === undefined) names.delete(name);
    else names.set(name, inode);
  }
}

export function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
