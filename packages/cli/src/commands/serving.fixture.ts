// `gossip serve` in this process, while a test uses it.
import { gossipLine, type Said } from "./command-line.fixture.ts";

/** Serve while `act` runs, then stop as with SIGTERM. */
export async function serving(
  args: readonly string[],
  { cwd }: { readonly cwd: string },
  act: (url: string, send: (signal: string) => void) => Promise<void>,
): Promise<Said> {
  let send: (name: string) => void = () => {};
  let acting: Promise<void> | undefined;
  const said = await gossipLine(["serve", "--listen", "127.0.0.1:0", ...args], {
    cwd,
    onListening: (sender) => (send = sender),
    onLine: (line) => {
      const [, url] = /^listening (\S+)$/.exec(line) ?? [];
      // Not at once: the line is printed before the command listens for signals.
      if (url !== undefined)
        setImmediate(() => {
          acting = act(url, send).finally(() => send("SIGTERM"));
          // A failure is reported below, after the command has stopped.
          acting.catch(() => {});
        });
    },
  });
  await acting;
  return said;
}
