// Walks every state of a world, breadth first, and stops at the first in which something is wrong.
import { makeTables, MoveWorld, type ScopeKit, type WorldOptions } from "./move-world.fixture.ts";

export interface Exploration {
  readonly states: number;
  /** Steps that were tried, those that led to a known state included. */
  readonly steps: number;
  /** What is wrong, and the shortest way there. */
  readonly violation: { readonly what: string; readonly path: readonly string[] } | undefined;
}

/** A fault may make a world without end; then it was not found. */
const MAX_STATES = 60_000;

interface Visit {
  readonly action: string;
  readonly from: Visit | undefined;
}

/**
 * Try all interleavings.
 *
 * A world is a tree of real objects that cannot be copied, so each state is reached again by
 * repeating the steps that first led to it.
 */
export function explore(kit: ScopeKit, options: WorldOptions): Exploration {
  const tables = makeTables(kit);
  const replay = (visit: Visit | undefined): MoveWorld => {
    const world = new MoveWorld(kit, tables, options);
    for (const action of pathOf(visit)) world.perform(action);
    return world;
  };

  const seen = new Set([replay(undefined).fingerprint()]);
  const queue: (Visit | undefined)[] = [undefined];
  let steps = 0;
  for (const from of queue) {
    if (seen.size > MAX_STATES)
      throw new Error(`more than ${MAX_STATES} states: the world has no end, or the limit is too low`);
    let world = replay(from);
    const here = world.fingerprint();
    for (const action of world.actions()) {
      steps += 1;
      const visit = { action, from };
      const thrown = attempt(() => world.perform(action));
      if (thrown !== undefined) return { states: seen.size, steps, violation: { what: thrown, path: pathOf(visit) } };
      const there = world.fingerprint();
      // Refused, or nothing to do: the same world serves for the next step.
      if (there === here) continue;
      if (!seen.has(there)) {
        seen.add(there);
        const what = attempt(() => world.violation() ?? world.violationAfterRecovery());
        if (what !== undefined) return { states: seen.size, steps, violation: { what, path: pathOf(visit) } };
        queue.push(visit);
      }
      world = replay(from);
    }
  }
  return { states: seen.size, steps, violation: undefined };
}

/** What a step answers; or, where it throws, the message. No step may throw. */
function attempt(step: () => string | undefined | void): string | undefined {
  try {
    return step() ?? undefined;
  } catch (error) {
    return `thrown: ${String(error)}`;
  }
}

function pathOf(visit: Visit | undefined): string[] {
  const path: string[] = [];
  for (let at = visit; at !== undefined; at = at.from) path.push(at.action);
  return path.reverse();
}
