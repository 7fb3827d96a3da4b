// How calls travel decides what a checkpoint costs: requests that are too small cost more than what they carry, and a
// request that waits for others without need is slow.
import type { ElementOf } from "@gossip/protocol";
import { expect, test } from "vitest";
import type { Reply, SendOptions } from "../http/transport.ts";
import { ElementQueue } from "./element-queue.ts";
import type { Patience } from "./patience.ts";

const PATIENCE: Patience = {
  patienceMs: 30_000,
  replyTimeoutMs: 10_000,
  firstPauseMs: 20,
  maxPauseMs: 1_000,
  nowMs: () => 0,
  random: () => 0,
  sleep: () => Promise.resolve(),
};

/** A queue whose requests are answered when the test says so. */
class World {
  readonly requests: { readonly opIds: readonly string[]; readonly answer: () => void }[] = [];
  readonly settled: string[] = [];
  readonly #queue: ElementQueue<"release">;

  constructor() {
    const transmit = ({ body }: SendOptions): Promise<Reply> =>
      new Promise((resolve) => {
        const { elements } = body as { readonly elements: readonly ElementOf<"release">[] };
        const results = elements.map(() => ({ ok: { outcome: "Executed" } }));
        this.requests.push({
          opIds: elements.map(({ opId }) => opId),
          answer: () => resolve({ status: 200, json: { results } }),
        });
      });
    const routes = { next: () => this.#queue, follow: () => false, lost: () => {} };
    this.#queue = new ElementQueue("release", transmit, PATIENCE, routes);
  }

  send(count: number): void {
    for (let index = 0; index < count; index++) {
      const opId = String(index);
      const settle = (): void => void this.settled.push(opId);
      const reject = (thrown: unknown): never => {
        throw thrown as Error;
      };
      this.#queue.send({ opId } as ElementOf<"release">, { settle, reject, waitMs: 0 });
    }
  }

  get sizes(): readonly number[] {
    return this.requests.map(({ opIds }) => opIds.length);
  }
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test("the calls of one turn travel in one request, in their order", async () => {
  const world = new World();
  world.send(10);
  expect(world.sizes).toEqual([]);
  await turn();
  expect(world.requests.map(({ opIds }) => opIds)).toEqual([["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]]);
});

test("a few calls do not wait for those in flight", async () => {
  const world = new World();
  for (let index = 0; index < 4; index++) {
    world.send(1);
    await turn();
  }
  expect(world.sizes).toEqual([1, 1, 1, 1]);
});

test("calls beyond the requests that may be in flight wait, and travel together", async () => {
  const world = new World();
  for (let index = 0; index < 7; index++) {
    world.send(20);
    await turn();
  }
  expect(world.sizes).toEqual([20, 20, 20, 20]);
  world.requests[0]!.answer();
  await turn();
  await turn();
  expect(world.sizes).toEqual([20, 20, 20, 20, 60]);
  expect(world.settled).toHaveLength(20);
});

test("a request has at most 500 elements", async () => {
  const world = new World();
  world.send(1_100);
  await turn();
  await turn();
  await turn();
  expect(world.sizes).toEqual([500, 500, 100]);
});
