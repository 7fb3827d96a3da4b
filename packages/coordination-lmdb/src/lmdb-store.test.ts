// A store that keeps a rule a little differently from the one in memory is found out by nobody until it is in use. So the
// published kit runs against it as it stands, with every setting of durability.

import { describeCoordinationStore } from "@gossip/coordination/testing";
import { describe, expect, test } from "vitest";
import { makeStore } from "./temporary-store.fixture.ts";

describeCoordinationStore("LmdbStore", () => makeStore(), { describe, expect, test });
