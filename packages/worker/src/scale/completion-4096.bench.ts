// The same as `completion-small.bench.ts` for 4,096 workers. It takes half an hour of one core.
import { completionFigure } from "./completion-figure.fixture.ts";

completionFigure({ workers: 4096, items: 1_000_000, meanMs: 1000 });
