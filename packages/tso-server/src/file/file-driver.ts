import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { assert, err, ok, type Result } from "@gossip/stdx";
import { isPhysicalMs, type CoreError, type Epoch } from "@gossip/tso";
import { assertObject } from "@gossip/stdx/internal";
import type { ConsensusDriver } from "../driver/consensus-driver.ts";
import type { DriverError } from "../driver/driver-error.ts";
import { leaderAt, type LeaderState } from "../driver/leader-state.ts";
import { LeadershipFeed } from "../driver/leadership-feed.ts";
import { DirectoryLock, type LockError } from "./directory-lock.ts";
import { createAtomically, openSlotIo, type SlotIo } from "./slot-io.ts";
import { decodeState, encodeSlot, encodeState, SLOT_STRIDE, type StateFlaw } from "./slot-record.ts";

/** Why a state directory was not opened. Nothing in it was changed. */
export type FileOpenError =
  | LockError
  /** The state file is damaged, or a newer version's. The bound in it is not known, so none is assumed. */
  | { readonly kind: "CorruptState"; readonly path: string; readonly flaw: StateFlaw }
  | { readonly kind: "Io"; readonly path: string; readonly code: string };

const STATE_NAME = "state";

interface Pending {
  readonly atLeastMs: number;
  readonly resolve: (result: Result<number, DriverError>) => void;
}

/**
 * A driver for one machine: the bound lives in a file that survives `kill -9` and a loss of power.
 *
 * The process that holds the directory leads, always with epoch 0. The first write or sync that fails is the last: what the
 * disk holds is not known after it, so every later persist fails too, until the directory is opened again.
 */
export class FileDriver implements ConsensusDriver {
  readonly #lock: DirectoryLock;
  readonly #io: SlotIo;
  readonly #feed = new LeadershipFeed(leaderAt(0n));
  #highWaterMs: number;
  #nextSlot: 0 | 1;
  #pending: Pending[] = [];
  #writing: Promise<void> | undefined;
  #failure: DriverError<"PermanentDriver"> | undefined;

  private constructor(
    lock: DirectoryLock,
    io: SlotIo,
    state: { readonly highWaterMs: number; readonly nextSlot: 0 | 1 },
  ) {
    this.#lock = lock;
    this.#io = io;
    this.#highWaterMs = state.highWaterMs;
    this.#nextSlot = state.nextSlot;
  }

  /**
   * Open a state directory, creating it if necessary, and hold it until `close` or the end of the process.
   *
   * `wrapIo` is for tests that make the disk fail.
   */
  static async open(options: {
    readonly directory: string;
    readonly wrapIo?: (io: SlotIo) => SlotIo;
  }): Promise<Result<FileDriver, FileOpenError>> {
    assertDirectory(options);
    const { directory, wrapIo = (io) => io } = options;
    const path = join(directory, STATE_NAME);
    return locked(directory, path, async (lock) => {
      const opened = (await openIfPresent(path)) ?? (await createAndOpen(directory, path, 0));
      const state = decodeState(opened.bytes);
      if (!state.ok) {
        await opened.io.close();
        return err({ kind: "CorruptState", path, flaw: state.error });
      }
      const io = wrapIo(opened.io);
      // What was read may be a write that a crash left in the cache: make it durable before a caller relies on it.
      await io.datasync();
      return ok(new FileDriver(lock, io, state.value));
    });
  }

  /** Start a state directory at a bound. Everything issued later is above it. Refuses a directory that has a state. */
  static async initialize(options: {
    readonly directory: string;
    readonly seedPhysicalMs: number;
  }): Promise<
    Result<
      void,
      FileOpenError | CoreError<"PhysicalMsOutOfRange"> | { readonly kind: "AlreadyInitialized"; readonly path: string }
    >
  > {
    assertDirectory(options);
    const { directory, seedPhysicalMs } = options;
    if (!isPhysicalMs(seedPhysicalMs)) return err({ kind: "PhysicalMsOutOfRange", physicalMs: seedPhysicalMs });
    const path = join(directory, STATE_NAME);
    let isPresent = false;
    const made = await locked(directory, path, async (lock) => {
      const present = await openIfPresent(path);
      isPresent = present !== undefined;
      const opened = present ?? (await createAndOpen(directory, path, seedPhysicalMs));
      await opened.io.close();
      return ok(lock);
    });
    if (!made.ok) return made;
    await made.value.release();
    return isPresent ? err({ kind: "AlreadyInitialized", path }) : ok();
  }

  leadershipEvents(): AsyncIterable<LeaderState> {
    return this.#feed.events();
  }

  loadHighWater(): Promise<Result<number, DriverError>> {
    return Promise.resolve(this.#failure === undefined ? ok(this.#highWaterMs) : err(this.#failure));
  }

  persistHighWater(atLeastMs: number, _epoch: Epoch): Promise<Result<number, DriverError>> {
    if (!isPhysicalMs(atLeastMs)) return Promise.resolve(err({ kind: "AdvanceOutOfRange", physicalMs: atLeastMs }));
    return new Promise((resolve) => {
      this.#pending.push({ atLeastMs, resolve });
      this.#writing ??= this.#writeAll();
    });
  }

  async close(): Promise<void> {
    await this.#writing;
    if (this.#failure === CLOSED) return;
    this.#failure = CLOSED;
    this.#feed.close();
    await this.#io.close();
    await this.#lock.release();
  }

  /** Callers that arrive during a write share the next one. */
  async #writeAll(): Promise<void> {
    while (this.#pending.length > 0) {
      const batch = this.#pending;
      this.#pending = [];
      const written = await this.#write(batch.reduce((most, { atLeastMs }) => Math.max(most, atLeastMs), 0));
      for (const { resolve } of batch) resolve(written);
    }
    this.#writing = undefined;
  }

  async #write(atLeastMs: number): Promise<Result<number, DriverError>> {
    if (this.#failure !== undefined) return err(this.#failure);
    if (atLeastMs <= this.#highWaterMs) return ok(this.#highWaterMs);
    try {
      await this.#io.write(encodeSlot(atLeastMs), this.#nextSlot * SLOT_STRIDE);
      await this.#io.datasync();
    } catch (thrown) {
      this.#failure = { kind: "PermanentDriver", reason: `the state file could not be written: ${codeOf(thrown)}` };
      return err(this.#failure);
    }
    this.#nextSlot = this.#nextSlot === 0 ? 1 : 0;
    this.#highWaterMs = atLeastMs;
    return ok(atLeastMs);
  }
}

const CLOSED: DriverError<"PermanentDriver"> = { kind: "PermanentDriver", reason: "the driver is closed" };

function assertDirectory(options: { readonly directory: string }): void {
  assertObject(options, "the options of a file driver");
  assert(typeof options.directory === "string" && options.directory !== "", "a state directory has a path");
}

/** Run `use` with the directory locked; let it go again where `use` does not succeed. */
async function locked<T>(
  directory: string,
  path: string,
  use: (lock: DirectoryLock) => Promise<Result<T, FileOpenError>>,
): Promise<Result<T, FileOpenError>> {
  let lock: DirectoryLock | undefined;
  try {
    await mkdir(directory, { recursive: true });
    const acquired = await DirectoryLock.acquire(directory);
    if (!acquired.ok) return acquired;
    lock = acquired.value;
    const used = await use(lock);
    if (!used.ok) await lock.release();
    return used;
  } catch (thrown) {
    await lock?.release();
    return err({ kind: "Io", path, code: codeOf(thrown) });
  }
}

async function openIfPresent(path: string): Promise<Awaited<ReturnType<typeof openSlotIo>> | undefined> {
  try {
    return await openSlotIo(path);
  } catch (thrown) {
    if (codeOf(thrown) === "ENOENT") return undefined;
    throw thrown;
  }
}

async function createAndOpen(directory: string, path: string, highWaterMs: number): ReturnType<typeof openSlotIo> {
  await createAtomically({ directory, name: STATE_NAME }, encodeState(highWaterMs));
  return openSlotIo(path);
}

function codeOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return "unknown";
  return "code" in thrown && typeof thrown.code === "string" ? thrown.code : thrown.message;
}
