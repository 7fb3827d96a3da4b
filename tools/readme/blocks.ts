// The fenced blocks of a Markdown page.

export interface Block {
  /** The page, from the root. */
  readonly file: string;
  /** The line of the page that holds the first line of code. */
  readonly line: number;
  /** The first word after the fence; empty if there is none. */
  readonly language: string;
  readonly code: string;
  /** For a fence such as "ts from commit.ts": the file next to the page that the block quotes. */
  readonly quotes?: string | undefined;
  /** For a fence such as "js to job.mjs": the file that the reader makes of the block. */
  readonly writes?: string | undefined;
  /** Whether the fence is "text output": what the block before it prints. */
  readonly isOutput?: true | undefined;
}

const OPENING = /^(\s*)(`{3,}|~{3,})\s*([\w-]*)(?:\s+from\s+(\S+)|\s+to\s+(\S+)|\s+(output)\s*$)?/;

/** A fence inside a longer fence is text, not code. */
export function readBlocks(file: string, page: string): Block[] {
  const blocks: Block[] = [];
  const lines = page.split("\n");
  for (let index = 0; index < lines.length; index++) {
    const opening = OPENING.exec(lines[index]!);
    if (opening === null) continue;
    const [, indent = "", fence = "", language = "", quotes, writes, output] = opening;
    const end = closingLine(lines, index + 1, fence);
    const code = lines
      .slice(index + 1, end)
      .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
    const isOutput = output === undefined ? undefined : true;
    blocks.push({ file, line: index + 2, language, code: `${code.join("\n")}\n`, quotes, writes, isOutput });
    index = end;
  }
  return blocks;
}

function closingLine(lines: readonly string[], from: number, fence: string): number {
  const isClosing = (line: string): boolean => {
    const text = line.trim();
    return text.length >= fence.length && text === fence[0]!.repeat(text.length);
  };
  const found = lines.findIndex((line, index) => index >= from && isClosing(line));
  return found < 0 ? lines.length : found;
}
