// The end of a run of very many shards must be exact, without reading the shards again and again or keeping them.
import { OpId } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import { expect, test } from "vitest";
import { MANY, openCounted, request } from "../inspect/large-run.fixture.ts";
import { finishRun } from "./finish-run.ts";

const options = { out: undefined, partSize: 1 };

test("a run with shards that are not done stays open", async () => {
  const { opened, items, reads } = await openCounted(MANY);
  const overview = unwrap(await finishRun(opened, request, options));
  expect(overview.status).toBe("Active");
  expect(overview.totals.items).toBe(items);
  expect(overview.states.parked).toBe(1);
  expect(reads()).toBe(MANY);
});

test("a run whose shards are all done is completed, and every shard is read once", async () => {
  const { opened, items, reads } = await openCounted(MANY, { isDone: true });
  const overview = unwrap(await finishRun(opened, request, options));
  expect(overview.status).toBe("Done");
  expect(overview.totals.items).toBe(items);
  expect(overview.states).toEqual({ done: MANY, leased: 0, waiting: 0, parked: 0 });
  expect(overview.rows).toEqual([]);
  expect(reads()).toBe(MANY);
});

test("a run that another process canceled is not completed", async () => {
  const { opened } = await openCounted(20);
  unwrap(await opened.coordinator.cancelRun({ ...request, opId: OpId.random() }));
  expect(await finishRun(opened, request, options)).toMatchObject({ ok: false, error: { kind: "RunEnded" } });
});
