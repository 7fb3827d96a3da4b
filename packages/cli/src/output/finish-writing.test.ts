// A process that ends before its pipe is empty has lost the end of what it said; one that waits for a stream that is broken never ends.
import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { finishWriting } from "./finish-writing.ts";

/** A stream whose reader takes a chunk on request. */
function slowStream(): { readonly stream: Writable; readonly taken: string[]; takeOne(): void } {
  const taken: string[] = [];
  const waiting: (() => void)[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      waiting.push(() => {
        taken.push(chunk.toString());
        done();
      });
    },
  });
  return { stream, taken, takeOne: () => waiting.shift()?.() };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("it is over when the slowest has taken everything, and not before", async () => {
  const [slow, quick] = [slowStream(), slowStream()];
  for (const text of ["a", "b", "c"]) slow.stream.write(text);
  let isOver = false;
  const finished = finishWriting([slow.stream, quick.stream]).then(() => (isOver = true));
  for (let taken = 0; taken < 3; taken++) {
    await turn();
    expect(isOver).toBe(false);
    slow.takeOne();
    quick.takeOne();
  }
  await turn();
  slow.takeOne();
  await finished;
  expect(slow.taken.join("")).toBe("abc");
});

test("what is broken, or breaks meanwhile, is not waited for", async () => {
  const broken = new Writable({ write: (_chunk, _encoding, done) => done(new Error("full")) });
  broken.on("error", () => undefined);
  broken.write("a");
  const cut = slowStream();
  cut.stream.on("error", () => undefined);
  cut.stream.write("a");
  const finished = finishWriting([broken, cut.stream]);
  cut.stream.destroy(new Error("cut"));
  await finished;
  await finishWriting([broken, cut.stream]);
});
