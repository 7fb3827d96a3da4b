import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openHandlesIn } from "../file-tree/temporary-tree.fixture.ts";

/** A temporary file. */
export interface TemporaryFile {
  readonly path: string;
  openHandleCount(): number;
  dispose(): void;
}

export function makeFile(content: string | Uint8Array): TemporaryFile {
  const folder = mkdtempSync(join(tmpdir(), "gossip-lines-"));
  const path = join(folder, "lines.txt");
  writeFileSync(path, content);
  return {
    path,
    openHandleCount: () => openHandlesIn(folder),
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The offset and bytes of each line, computed in the simplest way. */
export function linesOf(content: Buffer): readonly { readonly offset: number; readonly bytes: Buffer }[] {
  const lines: { offset: number; bytes: Buffer }[] = [];
  let offset = 0;
  for (const text of content.toString("latin1").split("\n")) {
    lines.push({ offset, bytes: Buffer.from(text.replace(/\r$/, ""), "latin1") });
    offset += text.length + 1;
  }
  // After the last newline there is a line only if bytes follow.
  if (lines.at(-1)!.offset === content.length) lines.pop();
  return lines;
}
