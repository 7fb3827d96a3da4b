/** How the command ends. What scripts look at, so a number never changes its meaning. */
export const EXIT_CODES = {
  Ok: { code: 0, means: "it did what was asked" },
  Bug: { code: 1, means: "the program itself is wrong; please report what it says" },
  Usage: { code: 2, means: "the command line cannot be carried out as it stands" },
  ItemsFailed: {
    code: 3,
    means: "the run has no more to do, and some items failed, were set aside, or could not be read",
  },
  NotFound: { code: 4, means: "there is no such run or shard" },
  Refused: {
    code: 5,
    means: "what is there does not allow it: other settings, an ended run, a shard in a worker's hands",
  },
  SourceFailed: { code: 6, means: "the source cannot be read" },
  StoreFailed: { code: 7, means: "the store cannot be opened, or failed" },
  Unhealthy: { code: 8, means: "`fsck` or `doctor` found something" },
  OutputFailed: { code: 9, means: "the results cannot be written, or whoever was to read those of a run has gone" },
  Interrupted: { code: 130, means: "stopped by Ctrl-C (SIGINT) before the end; the same command goes on" },
  Terminated: { code: 143, means: "stopped by SIGTERM before the end; the same command goes on" },
} as const satisfies Readonly<Record<string, { readonly code: number; readonly means: string }>>;

export type ExitName = keyof typeof EXIT_CODES;
