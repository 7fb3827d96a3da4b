/** A stream of this process, as much of it as is needed to wait for its end. */
export interface WaitingStream {
  write(text: string, done: () => void): unknown;
  once(event: "close", listener: () => void): unknown;
}

/**
 * Settles when all that was written has been taken, or never will be.
 *
 * A pipe takes a few kilobytes and the rest waits in this process, which must not end before whoever reads has had it.
 */
export async function finishWriting(streams: readonly WaitingStream[]): Promise<void> {
  await Promise.all(streams.map(lastWritten));
}

function lastWritten(stream: WaitingStream): Promise<void> {
  return new Promise((resolve) => {
    // One that is cut off in the middle of a write calls nobody back for what waits behind it.
    stream.once("close", resolve);
    stream.write("", resolve);
  });
}
