import { compareRouting } from "./routing-forms.fixture.ts";

// The size of a small cluster's configuration, where a plain scan is hard to beat.
compareRouting(10, 4_096);
