import { findNoteFault } from "@gossip/coordination/internal";
import type { RunAddress, FsckFinding } from "./finding.ts";
import type { RunView } from "./fsck-source.ts";

/** Checks the notes of a run: each can be read, and the run exists. */
export async function checkNotes(view: RunView, address: RunAddress): Promise<readonly FsckFinding[]> {
  const findings: FsckFinding[] = [];
  if (view.notes === undefined) return findings;
  let noteCount = 0;
  for await (const note of view.notes()) {
    noteCount++;
    const detail = note.ok ? findNoteFault(note.value) : note.error;
    const space = note.ok ? note.value.space : undefined;
    if (detail !== undefined) findings.push({ kind: "NoteFault", ...address, space, detail });
  }
  const hasRun = view.record.kind === "Found" || view.record.kind === "Unreadable";
  if (noteCount > 0 && !hasRun) findings.push({ kind: "NotesWithoutRun", ...address, noteCount });
  return findings;
}
