// Events leave the process. A key that shows in one has leaked.

import { Redacted } from "@gossip/stdx";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { RUN, SHARD, TENANT, text, time } from "../kernel/world.fixture.ts";
import { CoordinationEvent, EVENT_TRAITS, type EventKind } from "./coordination-event.ts";

const secret = text("secret-key");
const checkpointed: CoordinationEvent = {
  kind: "ShardCheckpointed",
  tenant: TENANT,
  run: RUN,
  at: time(5),
  shard: SHARD,
  lastKey: new Redacted(secret),
  lastKeySize: secret.length,
};

describe("CoordinationEvent", () => {
  test("shows a key's size and never the key", () => {
    const json = JSON.stringify(CoordinationEvent.toJson(checkpointed));
    expect(json).toContain('"lastKeySize":10');
    for (const shown of [json, inspect(checkpointed, { depth: 9 })]) {
      expect(shown).not.toContain("secret");
      expect(shown).not.toContain(Buffer.from(secret).toString("base64url"));
      expect(shown).not.toContain(Buffer.from(secret).toString("hex"));
    }
  });

  test("every kind is of a shard or of a run", () => {
    const kinds = Object.keys(EVENT_TRAITS) as EventKind[];
    expect(kinds.length).toBe(13 + 2);
    for (const kind of kinds) {
      const event = { ...checkpointed, kind } as CoordinationEvent;
      expect(CoordinationEvent.isShardEvent(event)).toBe(kind.startsWith("Shard"));
      expect(CoordinationEvent.isRunEvent(event)).toBe(kind.startsWith("Run"));
    }
    expect(
      kinds.filter((kind) => CoordinationEvent.isTerminal({ ...checkpointed, kind } as CoordinationEvent)),
    ).toEqual([
      "ShardCompleted",
      "ShardParked",
      "ShardSplit",
      "RunCompleted",
      "RunFailed",
      "RunCancelled",
      "RunDeleted",
    ]);
  });
});
