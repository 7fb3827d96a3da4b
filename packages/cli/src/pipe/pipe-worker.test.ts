// A process that had to wait for each batch would be idle while the next one travels. A slow process that got batches in
// advance would keep items from processes that have nothing to do.
import { once, EventEmitter } from "node:events";
import { afterEach, describe, expect, test } from "vitest";
import { openOutputPipes } from "../exec/named-pipes.ts";
import { PipeJob } from "./pipe-job.ts";
import { PipeWorker } from "./pipe-worker.ts";

const BATCH = 2;
const MANY = 100;
const NEVER = new AbortController().signal;
/** Answers every item at once. */
const ANSWER = `while IFS= read -r line; do case $line in '') ;; *) id=\${line#*:}; echo "{\\"id\\":\${id%%,*},\\"result\\":1}" ;; esac; done`;

let worker: PipeWorker | undefined;

afterEach(() => worker?.end());

/** A process that has said hello and answered its first batch, which took so long by its clock. */
async function makeWorker(hello: string, batchMs: number): Promise<PipeWorker> {
  const rooms = new EventEmitter();
  let nowMs = 0;
  const opened = new PipeWorker(
    {
      command: `echo '${hello}'; ${ANSWER}`,
      cwd: import.meta.dirname,
      env: process.env,
      pipes: openOutputPipes({ reportEnd: true }),
      timeoutMs: undefined,
      nowMs: () => nowMs,
    },
    {
      onAnswer: (job) => job.resolve({ kind: "Module", value: 1, failure: undefined }),
      onRoom: () => rooms.emit("room"),
      onGone: () => undefined,
      onLog: () => undefined,
    },
  );
  worker = opened;
  await once(rooms, "room");
  const jobs = sendBatch(opened);
  nowMs += batchMs;
  opened.flush();
  await Promise.all(jobs.map(({ result }) => result));
  while (opened.load > 0) await once(rooms, "room");
  return opened;
}

/** Gives it a batch, which it does not get before `flush`. */
function sendBatch(to: PipeWorker): PipeJob[] {
  const jobs = Array.from({ length: BATCH }, () => new PipeJob({ item: {}, fields: '"item":{}', signal: NEVER }));
  for (const job of jobs) to.send(job);
  return jobs;
}

describe("a process that asks for batches", () => {
  test.each([
    { hello: '{"batch":2}', batchMs: 1, batches: 2, what: "two if it is quick" },
    { hello: '{"batch":2}', batchMs: 1000, batches: 1, what: "one if it is slow" },
    { hello: '{"batch":2,"concurrency":1}', batchMs: 1, batches: 1, what: "as many as it asks for" },
    { hello: '{"batch":2,"concurrency":3}', batchMs: 1000, batches: 3, what: "as many as it asks for" },
  ])("has at most $batches at a time: $what", async ({ hello, batchMs, batches }) => {
    const opened = await makeWorker(hello, batchMs);
    expect(opened.appetite).toBe(batches * BATCH);
    for (let sent = 0; sent < batches; sent++) {
      expect(opened.room(MANY)).toBe(BATCH);
      sendBatch(opened);
    }
    expect(opened.room(MANY)).toBe(0);
    // Not a part of a batch.
    expect(opened.room(BATCH - 1)).toBe(0);
  });
});
