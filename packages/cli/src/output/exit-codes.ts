/** How a command ends. Scripts rely on these numbers, so none ever changes its meaning. */
export const EXIT_CODES = {
  Ok: { code: 0, means: "success" },
  Bug: { code: 1, means: "a defect of gossip; please report the message" },
  Usage: { code: 2, means: "the command line is invalid" },
  ItemsFailed: {
    code: 3,
    means:
      "some items failed, were set aside, or could not be read: the run is finished, or `--max-failures` stopped it",
  },
  NotFound: { code: 4, means: "there is no such run or shard" },
  Refused: {
    code: 5,
    means: "the state of the run or shard does not allow it: other settings, an ended run, a shard that a worker holds",
  },
  SourceFailed: { code: 6, means: "the source cannot be read" },
  StoreFailed: { code: 7, means: "the store cannot be opened, or failed" },
  Unhealthy: { code: 8, means: "`fsck` or `doctor` found a problem" },
  OutputFailed: { code: 9, means: "the results cannot be written, or the reader of a run's results has gone" },
  HungUp: { code: 129, means: "stopped by SIGHUP (the terminal was closed) before the end; the same command resumes" },
  Interrupted: { code: 130, means: "stopped by Ctrl-C (SIGINT) before the end; the same command resumes" },
  Terminated: { code: 143, means: "stopped by SIGTERM before the end; the same command resumes" },
} as const satisfies Readonly<Record<string, { readonly code: number; readonly means: string }>>;

export type ExitName = keyof typeof EXIT_CODES;
