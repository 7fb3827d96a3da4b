/** A stream of this process, as much of it as is needed to wait for its end. */
export interface WaitingStream {
  write(text: string, done: () => void): unknown;
  once(event: "close", listener: () => void): unknown;
}

/**
 * Settles when everything written has been read, or never will be.
 *
 * A pipe holds a few kilobytes; the rest waits in this process, which must not exit before the reader has received it.
 */
export async function finishWriting(streams: readonly WaitingStream[]): Promise<void> {
  await Promise.all(streams.map(lastWritten));
}

function lastWritten(stream: WaitingStream): Promise<void> {
  return new Promise((resolve) => {
    // A stream that closes during a write does not call back for the writes queued behind it.
    stream.once("close", resolve);
    stream.write("", resolve);
  });
}
