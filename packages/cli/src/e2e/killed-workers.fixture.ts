// Four processes on one run, killed one after another and started again, until everything is done.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { startGossip, type Ended, type GossipProcess } from "../processes/gossip-process.fixture.ts";
import { expectedSums, makeTree } from "./file-tree.fixture.ts";
import { readResults } from "./results.fixture.ts";

export interface KillOptions {
  readonly store: string;
  readonly fileCount: number;
  readonly killCount: number;
  /** Called before each kill. */
  readonly onTurn?: (turn: number) => Promise<void>;
}

export interface KillReport {
  readonly kills: number;
  readonly starts: number;
  readonly results: number;
}

const PROCESSES = 4;
const HAS_WORKED = /"kind":"progress".*"held":[1-9]/;
const HAS_JOINED = /"kind":"started"/;

/** Kill and restart processes of one run. Expects that nothing is lost and nothing is there twice. */
export async function killAndRestart({ store, fileCount, killCount, onTurn }: KillOptions): Promise<KillReport> {
  const folder = mkdtempSync(join(tmpdir(), "gossip-e2e-"));
  const running: GossipProcess[] = [];
  try {
    makeTree(join(folder, "data"), fileCount);
    const expected = expectedSums(join(folder, "data"));
    expect(expected.size).toBe(fileCount);
    // One item in ten waits until every kill was made, however quick the machine is, or until the folder is gone.
    const hold = "case {} in *5) until [ -e go ] || ! [ -d data ]; do sleep 0.1; done;; esac";
    const args = [
      "run",
      "--source",
      "fs:data",
      "--exec",
      `${hold}; sha256sum < {}`,
      "--out",
      "sums.ndjson",
      "--store",
      store.replace("FOLDER", folder),
      "--workers",
      "2",
      "--lease",
      "2",
      "--json",
    ];
    let starts = 0;
    const start = async (): Promise<GossipProcess> => {
      starts++;
      return startGossip(args, { cwd: folder });
    };
    for (let index = 0; index < PROCESSES; index++) running.push(await start());

    for (let turn = 0; turn < killCount; turn++) {
      const victim = running[turn % PROCESSES]!;
      await onTurn?.(turn);
      // Alternate between a process in the middle of its work and one that has just joined.
      expect(await victim.heard(turn % 2 === 0 ? HAS_WORKED : HAS_JOINED)).toBe(true);
      expect((await victim.kill()).signal).toBe("SIGKILL");
      running[turn % PROCESSES] = await start();
    }
    writeFileSync(join(folder, "go"), "");
    const ended = await Promise.all(running.map(({ ended: end }) => end));
    for (const { code, stderr } of ended) expect([code, stderr]).toEqual([0, ""]);
    expect(lastOf(ended[0]!)).toMatchObject({ kind: "finished", items: fileCount, failed: 0 });
    const results = readResults(join(folder, "sums.ndjson"));
    const wrong = [...expected]
      .filter(([path, sum]) => results.get(path)?.stdout?.slice(0, 64) !== sum)
      .map(([path]) => path);
    expect([wrong, results.size]).toEqual([[], fileCount]);
    return { kills: killCount, starts, results: results.size };
  } finally {
    await Promise.all(running.map((each) => each.kill()));
    rmSync(folder, { recursive: true, force: true });
  }
}

function lastOf({ stdout }: Ended): unknown {
  return JSON.parse(stdout.trimEnd().split("\n").at(-1)!);
}
