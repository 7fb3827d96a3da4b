// The same as `completion-small.bench.ts` for 512 workers. It takes some minutes.
import { completionFigure } from "./completion-figure.fixture.ts";

completionFigure({ workers: 512, items: 400_000, meanMs: 300 });
