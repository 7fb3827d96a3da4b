// A store that differs slightly from the one in memory goes unnoticed until it is in use. So the
// published kit runs against it as it stands, with every setting of durability.

import { describeCoordinationStore } from "@gossip/coordination/testing";
import { describe, expect, test } from "vitest";
import { makeStore } from "./temporary-store.fixture.ts";

describeCoordinationStore("LmdbStore", () => makeStore(), { describe, expect, test });
