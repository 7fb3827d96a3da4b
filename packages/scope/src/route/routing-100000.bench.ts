import { compareRouting, unlessSmoke } from "./routing-forms.fixture.ts";

// A prefix a tenant: far beyond any cache, in which everything else slows down most.
compareRouting(unlessSmoke(100_000), 131_072);
