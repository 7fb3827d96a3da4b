import { project } from "../../vitest.shared.ts";

const cli = project("cli");

// In processes, not threads: the command is a process, and Node looks after the file descriptors of threads in a way that does
// not go together with pipes that a socket reads.
export default { ...cli, test: { ...cli.test, pool: "forks" as const } };
