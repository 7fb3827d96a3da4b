import { compareRouting } from "./routing-forms.fixture.ts";

compareRouting(1_000, 16_384);
