// A few hundred clients that send thousands of requests each keep a server busy for seconds. If it answered them in the order
// in which they were read, another client's one request would wait for all of them, and so would every timer.
import { describe, expect, test } from "vitest";
import { RequestTurns, type TurnTaker } from "./request-turns.ts";
import { LEAST_SHARE_OF_TURN, MAX_REQUESTS_PER_TURN } from "./server-limits.ts";

/** A connection with `requests` to answer, which notes what it answered. */
class Taker implements TurnTaker {
  readonly portions: number[] = [];
  readonly #name: string;
  readonly #order: string[];
  requests: number;

  constructor(requests: number, { name = "", order = [] }: { readonly name?: string; readonly order?: string[] } = {}) {
    this.requests = requests;
    this.#name = name;
    this.#order = order;
  }

  get isReady(): boolean {
    return this.requests > 0;
  }

  takeTurn(most: number): number {
    const answered = Math.min(most, this.requests);
    this.requests -= answered;
    this.portions.push(answered);
    this.#order.push(this.#name);
    return answered;
  }
}

function sum(takers: readonly Taker[]): number {
  return takers.flatMap(({ portions }) => portions).reduce((total, portion) => total + portion, 0);
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("requests of one turn of the event loop", () => {
  test("are answered at once while they are few", () => {
    const turns = new RequestTurns();
    const taker = new Taker(MAX_REQUESTS_PER_TURN);
    turns.join(taker);
    expect([taker.portions, turns.waiting]).toEqual([[MAX_REQUESTS_PER_TURN], 0]);
  });

  test("are at most the limit, however many connections have more", async () => {
    const turns = new RequestTurns();
    const takers = Array.from({ length: 300 }, () => new Taker(1000));
    for (const taker of takers) turns.join(taker);
    let before = sum(takers);
    expect(before).toBe(MAX_REQUESTS_PER_TURN);
    for (; turns.waiting > 0; before = sum(takers)) {
      await turn();
      expect(sum(takers) - before).toBeLessThanOrEqual(MAX_REQUESTS_PER_TURN);
    }
    expect(before).toBe(300 * 1000);
  });

  test("are answered in equal shares, which are as large as the turn allows", async () => {
    const turns = new RequestTurns();
    const takers = Array.from({ length: 4 }, () => new Taker(100_000));
    for (const taker of takers) turns.join(taker);
    for (let passed = 0; passed < 8; passed++) await turn();
    const share = MAX_REQUESTS_PER_TURN / takers.length;
    for (const taker of takers) expect(taker.portions.slice(-8)).toEqual(Array.from({ length: 8 }, () => share));
  });

  test("of a newcomer are answered once every other connection has had one share", async () => {
    const turns = new RequestTurns();
    const order: string[] = [];
    const crowd = Array.from({ length: 100 }, (_, index) => new Taker(5000, { name: `${index}`, order }));
    for (const taker of crowd) turns.join(taker);
    await turn();
    order.length = 0;
    const already = sum(crowd);
    turns.join(new Taker(1, { name: "newcomer", order }));
    while (!order.includes("newcomer")) await turn();
    const ahead = order.slice(0, order.indexOf("newcomer"));
    expect([ahead.length, new Set(ahead).size]).toEqual([crowd.length, crowd.length]);
    expect(sum(crowd) - already).toBeLessThanOrEqual(crowd.length * LEAST_SHARE_OF_TURN + MAX_REQUESTS_PER_TURN);
  });

  test("of a connection that left are not asked for", async () => {
    const turns = new RequestTurns();
    const [first, second] = [new Taker(5000), new Taker(5000)];
    turns.join(first);
    turns.join(second);
    turns.leave(second);
    while (turns.waiting > 0) await turn();
    expect([sum([first]), second.portions]).toEqual([5000, []]);
  });
});
