// An action that is sent twice, or that says something else than it does, is worse than none.
import { expect, test } from "vitest";
import type { Answer, Poster } from "../data/call.ts";
import * as actions from "./actions.ts";

const run = { tenant: "t", run: "00000000000000aa", title: "hash /data" };
const SETTINGS = [actions.pauseRun(run), actions.resumeRun(run), actions.changeRate(run, 5)];
const ALL = [
  ...SETTINGS,
  actions.retryFailures(run, 3),
  actions.parkShard(run, "0000000000000001"),
  actions.unparkShard(run, "0000000000000001"),
  actions.splitHere(run, { position: 0.5, key: "m" }),
  actions.cancelRun(run),
  actions.deleteRun(run, "nightly"),
];

function recorder() {
  const sent: { readonly path: string; readonly body: object }[] = [];
  const client: Poster = {
    post: async <T>(path: string, body: object): Promise<Answer<T>> => {
      sent.push({ path, body });
      return { ok: false, error: { kind: "Network" } };
    },
  };
  return { client, sent };
}

test.each(ALL)("$title: states its effect in sentences, and carries the op id and the tenant", async (action) => {
  for (const effect of action.effects) expect(effect).toMatch(/^[A-Z].*\.$/);
  const { client, sent } = recorder();
  void (await action.send(client, "0123456789abcdef", "7"));
  expect(sent).toEqual([
    {
      path: expect.stringContaining(run.run),
      body: expect.objectContaining({
        ...(SETTINGS.includes(action) ? {} : { opId: "0123456789abcdef" }),
        tenant: "t",
      }),
    },
  ]);
});

test("several shards are unparked one by one, with the same op ids when it is tried again", async () => {
  const action = actions.unparkShards(run, ["0000000000000001", "0000000000000002", "0000000000000003"]);
  const attempts: string[][] = [];
  for (const failsAt of [1, undefined]) {
    const sent: string[] = [];
    const client: Poster = {
      post: async <T>(path: string, body: object): Promise<Answer<T>> => {
        sent.push(`${path.slice(-17, -7)} ${(body as { opId: string }).opId}`);
        return sent.length - 1 === failsAt
          ? { ok: false, error: { kind: "Network" } }
          : { ok: true, value: undefined as T };
      },
    };
    expect((await action.send(client, "ffffffffffffffff", "")).ok).toBe(failsAt === undefined);
    attempts.push(sent);
  }
  const all = ["0000000001 ffffffffffffffff", "0000000002 0000000000000000", "0000000003 0000000000000001"];
  expect(attempts).toEqual([all.slice(0, 2), all]);
});

test("a run is deleted only after its name was typed, or its id if it has none", () => {
  const { problem } = actions.deleteRun(run, "nightly").input!;
  expect([problem("nightly"), problem("Nightly"), problem("")]).toEqual([
    undefined,
    expect.any(String),
    expect.any(String),
  ]);
  expect(actions.deleteRun(run, undefined).input!.problem(run.run)).toBeUndefined();
});

test.each([
  ["", true],
  ["250", true],
  [" 0.5 ", true],
  ["0", false],
  ["-1", false],
  ["1e3", false],
  ["fast", false],
])("the rate %j is allowed: %s", (text, isAllowed) => {
  expect(actions.rateProblem(text) === undefined).toBe(isAllowed);
});

test("no limit is sent as null", async () => {
  const { client, sent } = recorder();
  void (await actions.changeRate(run, 5).send(client, "1", " "));
  expect(sent).toMatchObject([{ body: { itemsPerSecond: null } }]);
});
