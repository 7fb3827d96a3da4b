import type { CommitFault, FaultSource } from "../testing/fault-injecting-store.ts";

/** Injects scripted faults, one per commit. */
export class ScriptedFaults implements FaultSource {
  commits: (CommitFault | undefined)[] = [];
  failedReads = 0;

  onCommit(): CommitFault | undefined {
    return this.commits.shift();
  }

  onRead(): "Failed" | undefined {
    if (this.failedReads === 0) return undefined;
    this.failedReads--;
    return "Failed";
  }
}
