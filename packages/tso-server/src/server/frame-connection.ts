import type { Socket } from "node:net";
import type { Counter } from "../metrics/metrics.ts";
import type { Answer } from "../oracle/answer.ts";
import type { Oracle } from "../oracle/oracle.ts";
import { EpochMemo } from "../wire/epoch-memo.ts";
import { FrameReader } from "../wire/frame-reader.ts";
import {
  decodeRequest,
  decodeToken,
  encodeGrantedInto,
  encodeRefused,
  GRANTED_FRAME_SIZE,
  PREFACE,
} from "../wire/frame.ts";
import { reasonOf, STATUS_OF } from "../wire/status.ts";
import type { Access } from "./access.ts";
import type { ConnectionTable, WatchedConnection } from "./connection-table.ts";
import type { RequestTurns, TurnTaker } from "./request-turns.ts";

const KEEP_ALIVE_MS = 30_000;

const UNAUTHENTICATED = {
  status: "Unauthenticated",
  reason: "this server needs a token that it knows",
  hint: {},
} as const;

/**
 * One client's connection. Requests of one turn are answered from one reading of the clocks and written as one buffer. What
 * was read beyond stays as bytes until the connection's next turn, and nothing more is read meanwhile.
 *
 * No request is taken from a client that does not read its answers, and the table drops it when it breaks a limit.
 */
export class FrameConnection implements WatchedConnection, TurnTaker {
  readonly #socket: Socket;
  readonly #oracle: Oracle;
  readonly #table: ConnectionTable;
  readonly #turns: RequestTurns;
  readonly #access: Access;
  readonly #malformed: Counter;
  readonly #unauthenticated: Counter;
  readonly #reader = new FrameReader();
  readonly #epochs = new EpochMemo();
  readonly #onWritten = (): void => {
    this.#noteUnsent();
    if (this.#socket.isPaused()) this.#goOn();
  };
  #isAdmitted: boolean;
  /** The client's last token. */
  #token: Buffer | undefined;
  #preface = 0;
  #waiting = 0;
  #late: Buffer[] = [];
  /** Bytes that were read and are not answered yet, as the table knows them. */
  #unanswered = 0;
  #isEnding = false;
  #readAtMs: number;
  /** Since when bytes wait to be sent. */
  #unsentSinceMs: number | undefined;

  constructor(
    socket: Socket,
    parts: {
      readonly oracle: Oracle;
      readonly table: ConnectionTable;
      readonly turns: RequestTurns;
      readonly access: Access;
    },
  ) {
    const { oracle, table, turns, access } = parts;
    this.#socket = socket;
    this.#oracle = oracle;
    this.#table = table;
    this.#turns = turns;
    this.#access = access;
    this.#isAdmitted = access.isOpen;
    this.#malformed = oracle.metrics.counter("tsoracle.connection.malformed.total");
    this.#unauthenticated = oracle.metrics.counter("tsoracle.get_ts.unauthenticated.total");
    this.#readAtMs = table.monotonicClock.nowMs();
    table.watch(this);
    socket.setNoDelay(true);
    // A client whose machine is gone sends nothing at all: the kernel finds out.
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    // A client that has asked for everything may close its side, and still gets its answers.
    socket.allowHalfOpen = true;
    socket.once("end", () => this.end());
    // A client may disconnect at any time. Responses to its requests are dropped.
    socket.on("error", () => socket.destroy());
    socket.once("close", () => {
      turns.leave(this);
      table.forget(this);
    });
  }

  isOverdue(nowMs: number): boolean {
    const { prefaceTimeoutMs, idleTimeoutMs, unsentTimeoutMs } = this.#table.limits;
    if (this.#unsentSinceMs !== undefined && nowMs - this.#unsentSinceMs >= unsentTimeoutMs) return true;
    // A request that waits is not the client's silence.
    if (this.#waiting > 0) return false;
    return nowMs - this.#readAtMs >= (this.#preface < PREFACE.length ? prefaceTimeoutMs : idleTimeoutMs);
  }

  get isReady(): boolean {
    return this.#reader.hasMore && this.#hasRoom && !this.#socket.destroyed;
  }

  /** Close once everything asked so far is answered. */
  end(): void {
    this.#isEnding = true;
    this.#goOn();
  }

  /** Close the connection of a client whose token is no longer accepted. If it has another one, it comes back with it. */
  checkToken(): void {
    if (this.#token !== undefined && this.#isAdmitted && !this.#access.accepts(this.#token)) this.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  takeTurn(most: number): number {
    const room = this.#hasRoom ? this.#table.limits.maxPendingPerConnection - this.#waiting : 0;
    const ids: number[] = [];
    const counts: number[] = [];
    let frames = 0;
    const isOurs = this.#reader.read(Math.min(most, room), (frame) => {
      frames += 1;
      const request = decodeRequest(frame);
      if (!request.ok) return this.#readToken(frame);
      ids.push(request.value.requestId);
      counts.push(request.value.count);
      return true;
    });
    if (counts.length > 0) this.#answerAdmitted(ids, counts);
    if (!isOurs) this.#refuseStranger();
    else if (!this.isReady && this.#socket.isPaused()) this.#goOn();
    return frames;
  }

  #read(chunk: Buffer): void {
    if (this.#isEnding) return;
    // Bytes of a preface do not count: one at a time would hold a connection for four timeouts.
    const bytes = this.#pastPreface(chunk);
    if (bytes === undefined) return this.#refuseStranger();
    if (this.#preface === PREFACE.length) this.#readAtMs = this.#table.monotonicClock.nowMs();
    this.#reader.add(bytes);
    this.#goOn();
  }

  /** Whether an answer could wait, or be written. */
  get #hasRoom(): boolean {
    const { writableLength, writableHighWaterMark } = this.#socket;
    return this.#waiting < this.#table.limits.maxPendingPerConnection && writableLength < writableHighWaterMark;
  }

  /** Answer what was read. Once nothing is left of it, read on, or close the connection if it is ending. */
  #goOn(): void {
    if (this.isReady) this.#turns.join(this);
    if (this.#socket.destroyed) return;
    this.#noteUnanswered();
    if (this.#reader.hasMore || (!this.#hasRoom && !this.#isEnding)) {
      this.#socket.pause();
      return;
    }
    if (this.#isEnding && this.#waiting === 0) this.#socket.end();
    this.#socket.resume();
  }

  #noteUnanswered(): void {
    const { heldSize } = this.#reader;
    if (heldSize === this.#unanswered) return;
    this.#unanswered = heldSize;
    this.#table.setUnanswered(this, heldSize);
  }

  /** Returns `false` for a frame that is no token. An unknown token admits no requests. */
  #readToken(frame: Buffer): boolean {
    const token = decodeToken(frame);
    if (token === undefined) return false;
    this.#isAdmitted = this.#access.accepts(token);
    this.#token = Buffer.from(token);
    return true;
  }

  #answerAdmitted(ids: readonly number[], counts: readonly number[]): void {
    if (this.#isAdmitted) return this.#answer(ids, counts);
    this.#unauthenticated.add(ids.length);
    this.#write(Buffer.concat(ids.map((id) => encodeRefused(id, UNAUTHENTICATED))));
  }

  #answer(ids: readonly number[], counts: readonly number[]): void {
    const answers = this.#oracle.getTsMany(counts, this);
    const out = Buffer.allocUnsafe(answers.length * GRANTED_FRAME_SIZE);
    let size = 0;
    const refused: Buffer[] = [];
    answers.forEach((answer, index) => {
      const requestId = ids[index]!;
      if (answer instanceof Promise) {
        this.#answerLater(requestId, answer);
      } else if (answer.ok) {
        encodeGrantedInto({ requestId, grant: answer.value }, this.#epochs, size, out);
        size += GRANTED_FRAME_SIZE;
      } else {
        refused.push(this.#encode(requestId, answer));
      }
    });
    if (refused.length > 0) this.#write(Buffer.concat([out.subarray(0, size), ...refused]));
    else if (size > 0) this.#write(out.subarray(0, size));
  }

  #answerLater(requestId: number, answer: Promise<Answer>): void {
    this.#waiting += 1;
    void answer.then((settled) => {
      this.#waiting -= 1;
      // Requests that waited together are answered together: write them as one buffer.
      if (this.#late.push(this.#encode(requestId, settled)) === 1) queueMicrotask(() => this.#writeLate());
    });
  }

  #writeLate(): void {
    this.#write(Buffer.concat(this.#late));
    this.#late = [];
    this.#goOn();
  }

  #write(bytes: Buffer): void {
    if (!this.#socket.writable) return;
    this.#socket.write(bytes, this.#onWritten);
    if (this.#socket.writableLength > 0) this.#noteUnsent();
  }

  #noteUnsent(): void {
    const unsent = this.#socket.writableLength;
    const isNothingNew = unsent === 0 && this.#unsentSinceMs === undefined;
    if (isNothingNew || this.#socket.destroyed) return;
    if (unsent === 0) this.#unsentSinceMs = undefined;
    else this.#unsentSinceMs ??= this.#table.monotonicClock.nowMs();
    this.#table.setUnsent(this, unsent);
  }

  /** What follows the preface, or `undefined` if the stream does not begin with it. */
  #pastPreface(chunk: Buffer): Buffer | undefined {
    if (this.#preface === PREFACE.length) return chunk;
    const size = Math.min(PREFACE.length - this.#preface, chunk.length);
    if (chunk.compare(PREFACE, this.#preface, this.#preface + size, 0, size) !== 0) return undefined;
    this.#preface += size;
    return chunk.subarray(size);
  }

  #refuseStranger(): void {
    this.#malformed.add();
    this.#socket.destroy();
  }

  #encode(requestId: number, answer: Answer): Buffer {
    if (answer.ok) {
      const out = Buffer.allocUnsafe(GRANTED_FRAME_SIZE);
      encodeGrantedInto({ requestId, grant: answer.value }, this.#epochs, 0, out);
      return out;
    }
    const { error } = answer;
    return encodeRefused(requestId, {
      status: STATUS_OF[error.kind],
      reason: reasonOf(error),
      hint: error.kind === "NotLeader" ? error : {},
    });
  }
}
