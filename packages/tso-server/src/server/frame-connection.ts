import type { Socket } from "node:net";
import type { Counter } from "../metrics/metrics.ts";
import type { Answer } from "../oracle/answer.ts";
import type { Oracle } from "../oracle/oracle.ts";
import { EpochMemo } from "../wire/epoch-memo.ts";
import { FrameReader } from "../wire/frame-reader.ts";
import { decodeRequest, encodeGrantedInto, encodeRefused, GRANTED_FRAME_SIZE, PREFACE } from "../wire/frame.ts";
import { reasonOf, STATUS_OF } from "../wire/status.ts";

/** Requests of one connection that may wait for an extension before no more are read from it. */
const MAX_WAITING = 4096;

const KEEP_ALIVE_MS = 30_000;

/**
 * One client's connection. All requests of a piece of the stream are answered from one look at the clock
 * and written as one piece. A client that does not read its answers is not read from either.
 */
export class FrameConnection {
  readonly #socket: Socket;
  readonly #oracle: Oracle;
  readonly #malformed: Counter;
  readonly #reader = new FrameReader();
  readonly #epochs = new EpochMemo();
  #preface = 0;
  #waiting = 0;
  #late: Buffer[] = [];
  #isEnding = false;

  constructor(socket: Socket, oracle: Oracle) {
    this.#socket = socket;
    this.#oracle = oracle;
    this.#malformed = oracle.metrics.counter("tsoracle.connection.malformed.total");
    socket.setNoDelay(true);
    // A client whose machine is gone says nothing at all: the kernel finds out.
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("drain", () => this.#resume());
    // A client that goes away is no event: whatever it asked for is simply not wanted any more.
    socket.on("error", () => socket.destroy());
  }

  /** Close once everything asked so far is answered. */
  end(): void {
    this.#isEnding = true;
    if (this.#waiting === 0) this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    const bytes = this.#pastPreface(chunk);
    if (bytes === undefined) return this.#refuseStranger();
    const ids: number[] = [];
    const counts: number[] = [];
    const isOurs = this.#reader.push(bytes, (frame) => {
      const request = decodeRequest(frame);
      if (!request.ok) return false;
      ids.push(request.value.requestId);
      counts.push(request.value.count);
      return true;
    });
    if (counts.length > 0) this.#answer(ids, counts);
    if (!isOurs) this.#refuseStranger();
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
    if (this.#waiting >= MAX_WAITING) this.#socket.pause();
    void answer.then((settled) => {
      this.#waiting -= 1;
      // A whole stampede settles at once: write it as one piece.
      if (this.#late.push(this.#encode(requestId, settled)) === 1) queueMicrotask(() => this.#writeLate());
    });
  }

  #writeLate(): void {
    this.#write(Buffer.concat(this.#late));
    this.#late = [];
    if (this.#isEnding && this.#waiting === 0) this.#socket.end();
    else this.#resume();
  }

  #write(bytes: Buffer): void {
    if (this.#socket.writable && !this.#socket.write(bytes)) this.#socket.pause();
  }

  #resume(): void {
    if (this.#waiting < MAX_WAITING && !this.#socket.writableNeedDrain) this.#socket.resume();
  }

  /** What follows the preface; `undefined` where the stream does not begin with it. */
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
