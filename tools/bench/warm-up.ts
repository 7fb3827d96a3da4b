// Lets the compiler finish before anything is measured.
import type { Loop } from "./sample.ts";

/** How long one turn of a form lasts, about. */
const TURN_NS = 2e6;
/** A form is warm where this many turns in a row were no quicker than what came before them. */
const STEADY_TURNS = 8;
/** Less than this is no improvement but noise. */
const IMPROVEMENT = 0.97;
/** A form that never settles is not waited for longer than this many times the least. */
const MOST_TIMES = 5;

/** What is warmed up: a loop, and the number of its next call. */
export interface WarmedForm {
  readonly loop: Loop;
  next: number;
}

/**
 * Run every form, a little at a time and in turn, for at least `warmNs` each and until it gets no quicker.
 *
 * Short code is compiled within a few samples. A path of many functions is compiled piece by
 * piece, on a thread that shares its processor with all else, and is inlined only when its
 * parts are hot: what is measured before that is something that no long-running program runs. In turn,
 * because forms share code: what one of them makes hot, or generic, is so for all.
 */
export async function warmUp(forms: readonly WarmedForm[], warmNs: number): Promise<void> {
  let waiting = forms.map((form) => ({ form, count: 1, spentNs: 0, markNs: Number.POSITIVE_INFINITY, steadyTurns: 0 }));
  while (waiting.length > 0) {
    for (const state of waiting) {
      const { form, count } = state;
      const ns = Math.max(1, await form.loop(form.next, count));
      form.next += count;
      state.spentNs += ns;
      const perCall = ns / count;
      state.steadyTurns++;
      // The mark stays where it is until it is beaten clearly: many small steps are an improvement, too.
      if (perCall < state.markNs * IMPROVEMENT) {
        state.markNs = perCall;
        state.steadyTurns = 0;
      }
      state.count = Math.max(1, Math.min(4 * count, Math.round(TURN_NS / perCall)));
    }
    waiting = waiting.filter(
      ({ spentNs, steadyTurns }) => spentNs < warmNs || (steadyTurns < STEADY_TURNS && spentNs < MOST_TIMES * warmNs),
    );
  }
}
