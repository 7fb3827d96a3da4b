// The guide promises what each command prints. So its runner is tried on pages that are right, and on every way for a
// page to be wrong.
import { afterAll, describe, expect, test } from "vitest";
import { removeGossipScript } from "../../packages/cli/src/processes/gossip-bundle.fixture.ts";
import { readBlocks } from "./blocks.ts";
import { Engines } from "./engines.ts";
import { isPrinted } from "./expected-output.ts";
import { guidePages } from "./guide-pages.ts";
import { staticFailures } from "./languages.ts";
import { exampleBlocks } from "./pages.ts";
import { runPage } from "./run-page.ts";

const PAGE = "docs/guide/page.md";

function fenced(info: string, ...lines: string[]): string {
  return ["```" + info, ...lines, "```", ""].join("\n");
}

describe("isPrinted", () => {
  test.each([
    ["the same text", "a\nb\n", "a\nb"],
    ["empty lines around it", "\na\n\n", "a"],
    ["any text within a line", "a 12 c\n", "a … c"],
    ["any lines, also none", "a\nx\ny\nb\nc", "a\n…\nb\n…\nc"],
    ["another id", "run 4be9f60568c86462 ends", "run 0000000000000001 ends"],
    [
      "another time",
      "at 2026-11-17T08:54:09.868Z or 2026-11-17 08:54:10Z",
      "at 2001-01-01T00:00:00Z or 2001-01-01 00:00:00Z",
    ],
    ["another duration and rate", "in 191 ms (16.5/s)", "in 2 s (1,024/s)"],
  ])("accepts %s", (_name, actual, expected) => {
    expect(isPrinted(actual, expected)).toBe(true);
  });

  test.each([
    ["another word", "a x c", "a b c"],
    ["a line more", "a\nb", "a"],
    ["a line fewer", "a", "a\nb"],
    ["a shorter id", "run 4be9f60568c8646", "run 0000000000000001"],
    ["another number", "200 items", "240 items"],
    ["text that a pattern would match", "axb", "a.b"],
  ])("refuses %s", (_name, actual, expected) => {
    expect(isPrinted(actual, expected)).toBe(false);
  });
});

describe("runPage", () => {
  const engines = new Engines();
  afterAll(async () => {
    await engines.dispose();
    await removeGossipScript();
  });
  const run = (...parts: string[]) => runPage(readBlocks(PAGE, parts.join("\n")), engines, 30_000);

  test("blocks share a folder, variables and processes; files and output are as the page says", async () => {
    const failures = await run(
      fenced("js to job.mjs", "export default ({ line }) => line.length;"),
      fenced("sh", "printf 'ab\\nabc\\n' > words.txt", "mkdir below && cd below", "word=ant", "sleep 100 & napper=$!"),
      fenced("sh", 'kill -0 "$napper"', 'echo "$word in $PWD"'),
      fenced("text output", "ant in /demo/below"),
      fenced("sh", "cd ..", "gossip run --source lines:words.txt --module ./job.mjs --out lengths.ndjson"),
      fenced("text output", "…", "… Done: 2 items, in 1 s (1/s). Results are in /demo/lengths.ndjson."),
      fenced("sh", "grep -o '\"result\":[0-9]*' lengths.ndjson"),
      fenced("text output", '"result":2', '"result":3'),
    );
    expect(failures).toEqual([]);
  });

  test("a program of a page runs in the page's folder", async () => {
    const program = ['import { readFileSync } from "node:fs";', 'readFileSync("word", "utf8"); // => "ant"'];
    expect(await run(fenced("sh", "printf ant > word"), fenced("ts", ...program))).toEqual([]);
    const [failure] = await run(fenced("sh", "printf bee > word"), fenced("ts", ...program));
    expect(failure).toMatchObject({ file: PAGE, line: 7, what: expect.stringContaining("bee") });
  });

  test("other output, output of no step, and a failing step are failures, and end the page", async () => {
    expect(await run(fenced("sh", "echo a"), fenced("text output", "b"), fenced("sh", "false"))).toEqual([
      { file: PAGE, line: 6, what: "is not what the step prints:\na\n" },
    ]);
    expect(await run(fenced("sh", "echo a"), fenced("text", "b"), fenced("text output", "a"))).toEqual([
      { file: PAGE, line: 10, what: "is the output of no shell block: put it right after one" },
    ]);
    expect(await run(fenced("sh", "echo said; false", "true"))).toEqual([
      { file: PAGE, line: 2, what: "ends with code 1: said\n" },
    ]);
  });

  test("a step that does not end is a failure, and is ended", async () => {
    const blocks = readBlocks(PAGE, fenced("sh", "sleep 1000"));
    expect(await runPage(blocks, engines, 300)).toEqual([{ file: PAGE, line: 2, what: "did not end within 300 ms: " }]);
  });

  test("servers and ports are the page's own, and are shown as the page names them", async () => {
    const failures = await run(
      fenced("sh", "gossip runs --store postgres://ann:secret@db.internal/gossip || true"),
      fenced(
        "text output",
        "gossip: there is no store in PostgreSQL at db.internal/gossip: start a run first, or name another store with --store.",
      ),
      fenced("sh", "gossip tso get --tso 127.0.0.1:50551 || true"),
      fenced("text output", "gossip: no timestamp oracle answers at 127.0.0.1:50551 …"),
    );
    expect(failures).toEqual([]);
  });
});

test("output and files belong to pages of the guide", () => {
  const [output] = readBlocks("README.md", fenced("text output", "a"));
  expect(staticFailures(output!)).toHaveLength(1);
  expect(staticFailures({ ...output!, file: PAGE })).toEqual([]);
});

test("the guide has pages with steps", () => {
  expect(guidePages(exampleBlocks()).length).toBeGreaterThan(1);
});
