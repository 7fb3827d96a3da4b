// Events go over wires and into files as JSON. What is read must equal what was written, except the one thing that must not
// travel; and what is no event must not pass for one.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CoordinationEvent } from "./coordination-event.ts";
import { coordinationEventJson } from "./event-json.ts";
import { EVENT_OF_KIND } from "./events.fixture.ts";

const sent = (event: CoordinationEvent): unknown => JSON.parse(JSON.stringify(coordinationEventJson.toJson(event)));

describe.each(Object.values(EVENT_OF_KIND))("$kind", (event) => {
  test("comes back as it went, without a key", () => {
    const { lastKey: _hidden, ...told } = event as CoordinationEvent<"ShardCheckpointed">;
    const received = coordinationEventJson.fromJson(sent(event));
    expect(received).toEqual({ ok: true, value: told });
    expect(JSON.stringify(sent(event))).not.toContain("secret");
  });

  test("is refused without one of its fields, which is named", () => {
    const json = sent(event) as Record<string, unknown>;
    for (const field of Object.keys(json).filter((name) => name !== "lastKey")) {
      const { [field]: _left, ...rest } = json;
      expect(coordinationEventJson.fromJson(rest), field).toMatchObject({
        ok: false,
        error: { kind: "InvalidField", field },
      });
      expect(coordinationEventJson.fromJson({ ...json, [field]: -1.5 }), field).toMatchObject({
        ok: false,
        error: { field },
      });
    }
  });

  test("can be judged when it comes back", () => {
    const received = coordinationEventJson.fromJson(sent(event));
    expect(received.ok && CoordinationEvent.isTerminal(received.value as CoordinationEvent)).toBe(
      CoordinationEvent.isTerminal(event),
    );
  });
});

test("whatever is no event is refused, and nothing throws", () => {
  fc.assert(fc.property(fc.jsonValue(), (json) => !coordinationEventJson.fromJson(json).ok));
  const { kind: _kind, ...rest } = sent(EVENT_OF_KIND.RunCreated) as Record<string, unknown>;
  for (const kind of ["RunBorn", "toString", "__proto__"])
    expect(coordinationEventJson.fromJson({ ...rest, kind })).toMatchObject({ error: { field: "kind" } });
});
