// What the command does on a machine whose clock is wrong.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { gossip, type Ended } from "../processes/gossip-process.fixture.ts";

/** Expects a warning, a refusal and an explanation. `store` has a server with the right time. */
export async function expectClockChecks(folder: string, store: string): Promise<void> {
  writeFileSync(join(folder, "rows"), "1\n");
  const aheadBy = (ms: number, args: readonly string[]): Promise<Ended> => {
    const shift = `const now = Date.now; Date.now = () => now() + ${ms};`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(shift)}`;
    return gossip([...args, "--store", store], { cwd: folder, env: { NODE_OPTIONS } });
  };
  const run = ["run", "--source", "lines:rows", "--exec", "true", "--lease", "100"];
  const refused = await aheadBy(200_000, run);
  expect([refused.code, refused.stderr]).toEqual([
    5,
    expect.stringMatching(
      /clock is 3 min 20 s ahead of that of the store's server, and the lease is 1 min 40 s: .*--tso/,
    ),
  ]);
  const warned = await aheadBy(-50_000, run);
  expect([warned.code, warned.stderr]).toEqual([
    0,
    expect.stringMatching(/^this machine's clock is 50 s behind .*\n(?:.*\n)*Done: 1 item/),
  ]);
  expect(warned.log).toMatch(/^\S+ warn .* this machine's clock/);
  const doctor = await aheadBy(50_000, ["doctor"]);
  expect([doctor.code, doctor.stdout]).toEqual([8, expect.stringMatching(/problem +clock .* 50 s ahead .* NTP/)]);
  expect((await aheadBy(0, ["doctor"])).stdout).toMatch(/ok +clock +within \d+ m?s of the store's server/);
}
