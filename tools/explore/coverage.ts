// Which protocol states an exploration has met so far, and whether it still meets new ones.
import type { MetStates } from "../sim/state-coverage.ts";

/** What one simulator task wrote. */
export interface SimulatorCoverage extends MetStates {
  readonly seeds: number;
  readonly ops: number;
}

interface Row {
  readonly minutes: number;
  readonly seeds: number;
  readonly ops: number;
  readonly states: number;
  readonly steps: number;
}

export class CoverageOverTime {
  readonly #states = new Set<string>();
  readonly #steps = new Set<string>();
  readonly #rows: Row[] = [];

  add(minutes: number, { seeds, ops, states, steps }: SimulatorCoverage): void {
    for (const state of states) this.#states.add(state);
    for (const step of steps) this.#steps.add(step);
    const before = this.#rows.at(-1) ?? { seeds: 0, ops: 0 };
    this.#rows.push({
      minutes,
      seeds: before.seeds + seeds,
      ops: before.ops + ops,
      states: this.#states.size,
      steps: this.#steps.size,
    });
  }

  /** The latest row in words, or `undefined` before the first. */
  get latest(): string | undefined {
    const row = this.#rows.at(-1);
    const before = this.#rows.at(-2);
    if (row === undefined) return undefined;
    const fresh = row.steps - (before?.steps ?? 0);
    return `${row.minutes.toFixed(1)} min: ${row.seeds} seeds, ${row.ops} operations, ${row.states} states, ${row.steps} steps between them (${fresh} new)`;
  }

  /** A table with at most `count` rows, the last among them. */
  table(count = 12): string {
    const stride = Math.max(1, Math.ceil(this.#rows.length / count));
    const shown = this.#rows.filter((_, index) => (this.#rows.length - 1 - index) % stride === 0);
    const cells = [
      ["minutes", "seeds", "operations", "states", "steps"],
      ...shown.map((row) => [row.minutes.toFixed(1), ...[row.seeds, row.ops, row.states, row.steps].map(String)]),
    ];
    return cells.map((row) => row.map((cell) => cell.padStart(11)).join("")).join("\n");
  }
}
