// Pages of the guide: the blocks of such a page run in order, in one folder (run-page.ts). Blocks of other pages stand alone.
import type { Block } from "./blocks.ts";

/** Whether the page, named from the root, belongs to the guide. */
export function isGuidePage(file: string): boolean {
  return file.startsWith("docs/guide/");
}

/** The blocks of the guide, page by page. */
export function guidePages(blocks: readonly Block[]): Block[][] {
  const ofGuide = blocks.filter(({ file }) => isGuidePage(file));
  const files = new Set(ofGuide.map(({ file }) => file));
  return [...files].map((file) => ofGuide.filter((block) => block.file === file));
}
