/** How much of it: some seconds in every test run, all that the proof asks for with GOSSIP_LONG=1. */
export const KILL_SIZE =
  process.env["GOSSIP_LONG"] === "1" ? { fileCount: 50_000, killCount: 40 } : { fileCount: 2000, killCount: 4 };

/** A long run says what it did: nobody waits minutes for a tick. */
export function tellReport(store: string, report: object): void {
  if (process.env["GOSSIP_LONG"] === "1") process.stdout.write(`${store}: ${JSON.stringify(report)}\n`);
}
