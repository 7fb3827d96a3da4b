// A listener must not be able to delay the coordinator, whether it is slow or fails; and events that a slow
// reader misses must be counted, or the rest will be taken for everything that happened.

import { InvariantViolation } from "@gossip/stdx";
import { describe, expect, test } from "vitest";
import type { CoordinationEvent } from "../records/coordination-event.ts";
import { RUN, TENANT, time } from "../kernel/world.fixture.ts";
import { EventHub } from "./event-hub.ts";

const event = (at: number): CoordinationEvent => ({ kind: "RunCreated", tenant: TENANT, run: RUN, at: time(at) });
const times = (events: readonly (CoordinationEvent | undefined)[]) => events.map((each) => Number(each?.at));

describe("listeners", () => {
  test("hear every event in order, until they stop", () => {
    const hub = new EventHub();
    const heard: CoordinationEvent[] = [];
    const stop = hub.listen((each) => heard.push(each));
    hub.emit([event(1), event(2)]);
    stop();
    stop();
    hub.emit([event(3)]);
    expect(times(heard)).toEqual([1, 2]);
  });

  test("are counted, so that events are created only while there are any", async () => {
    const hub = new EventHub();
    expect(hub.isHeard).toBe(false);
    const stop = hub.listen(() => undefined);
    const stream = hub.stream();
    expect(hub.isHeard).toBe(true);
    stop();
    expect(hub.isHeard).toBe(true);
    await stream.return();
    expect(hub.isHeard).toBe(false);
  });

  test("one that throws is counted, and the others still get the event", () => {
    const hub = new EventHub();
    const heard: CoordinationEvent[] = [];
    hub.listen(() => {
      throw new Error("mine");
    });
    hub.listen((each) => heard.push(each));
    hub.emit([event(1), event(2)]);
    expect(times(heard)).toEqual([1, 2]);
    expect(hub.failedCalls).toBe(2);
  });

  test("every listener gets the events that a listener causes after those that caused them", () => {
    const hub = new EventHub();
    const heard: string[] = [];
    hub.listen(({ at }) => {
      if (at === 1n) hub.emit([event(3), event(4)]);
      if (at === 3n) hub.emit([event(5)]);
    });
    hub.listen(({ at }) => heard.push(`first ${at}`));
    hub.listen(({ at }) => heard.push(`second ${at}`));
    hub.emit([event(1), event(2)]);
    expect(heard).toEqual([1, 2, 3, 4, 5].flatMap((at) => [`first ${at}`, `second ${at}`]));
    hub.emit([event(6)]);
    expect(heard.slice(-2)).toEqual(["first 6", "second 6"]);
  });

  test("the same function may listen twice, and stop once", () => {
    const hub = new EventHub();
    let count = 0;
    const listener = () => {
      count++;
    };
    const stop = hub.listen(listener);
    hub.listen(listener);
    hub.emit([event(1)]);
    stop();
    hub.emit([event(2)]);
    expect(count).toBe(3);
  });
});

describe("streams", () => {
  test("keep what was not read yet, drop the oldest beyond their capacity, and count that", async () => {
    const hub = new EventHub();
    const stream = hub.stream({ capacity: 2 });
    hub.emit([event(1), event(2), event(3), event(4)]);
    expect(stream.dropped).toBe(2);
    expect(times([(await stream.next()).value, (await stream.next()).value])).toEqual([3, 4]);
  });

  test("serve readers that came first, in their order", async () => {
    const hub = new EventHub();
    const stream = hub.stream();
    const waiting = [stream.next(), stream.next()];
    hub.emit([event(1), event(2), event(3)]);
    expect(times((await Promise.all(waiting)).map((result) => result.value))).toEqual([1, 2]);
    expect((await stream.next()).value?.at).toBe(3n);
    expect(stream.dropped).toBe(0);
  });

  test("end for every waiting reader, and for good", async () => {
    const hub = new EventHub();
    const stream = hub.stream();
    const waiting = [stream.next(), stream.next()];
    await stream.return();
    hub.emit([event(1)]);
    expect((await Promise.all([...waiting, stream.next()])).every((result) => result.done)).toBe(true);
  });

  test("can be read with for await, and leaving the loop ends them", async () => {
    const hub = new EventHub();
    const stream = hub.stream();
    hub.emit([event(1), event(2), event(3)]);
    const read: CoordinationEvent[] = [];
    for await (const each of stream) {
      read.push(each);
      if (read.length === 2) break;
    }
    expect(times(read)).toEqual([1, 2]);
    expect((await stream.next()).done).toBe(true);
  });

  test.each([0, 1.5, -1, Number.NaN])("a capacity of %s is refused", (capacity) => {
    expect(() => new EventHub().stream({ capacity })).toThrow(InvariantViolation);
  });
});
