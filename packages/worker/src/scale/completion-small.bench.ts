// Does a run finish as early as its workers allow? In simulated time, on the real runtime, kernel and split advice.
import { completionFigure } from "./completion-figure.fixture.ts";

completionFigure({ workers: 4, items: 10_000, meanMs: 100 });
completionFigure({ workers: 64, items: 100_000, meanMs: 160 });
