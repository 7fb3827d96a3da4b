// What an operator can do, what it does, and how it is sent. Each action states its effect before it is confirmed.
import type { Answer, Poster } from "../data/call.ts";
import type { Route } from "../route/route.ts";
import { opIdAfter } from "../data/op-id.ts";
import { formatCount, plural } from "../format/numbers.ts";

export interface ActionInput {
  readonly label: string;
  readonly kind: "number" | "text";
  readonly initial: string;
  /** Why the text cannot be used, or `undefined`. */
  readonly problem: (text: string) => string | undefined;
}

export interface Action {
  readonly title: string;
  /** What happens, one sentence each. */
  readonly effects: readonly string[];
  readonly button: string;
  readonly isDangerous?: boolean;
  readonly input?: ActionInput;
  /**
   * Sends it. `opId` stays the same when the operator tries again after a lost answer. Settings need none: a repeated
   * change of settings changes nothing.
   */
  readonly send: (client: Poster, opId: string, input: string) => Promise<Answer<unknown>>;
  /** What to show when it is done. */
  readonly done: (value: unknown) => Done;
  /** Where to go when it is done, if what was shown is gone. */
  readonly goTo?: Route;
}

export interface Done {
  readonly text: string;
  /** Whether the text stays until it is closed, because the operator needs it. */
  readonly isKept?: boolean;
}

/** A run as actions need it. */
export interface ActionRun {
  readonly tenant: string;
  readonly run: string;
  readonly title: string;
}

export function pauseRun({ tenant, run, title }: ActionRun): Action {
  return {
    title: "Pause this run",
    effects: [
      `Workers of ${title} finish the items that they have begun, then take no new ones.`,
      "They keep their place. Nothing is lost, and Resume goes on from there.",
    ],
    button: "Pause",
    send: (client) => client.post(`runs/${run}/settings`, { tenant, paused: true }),
    done: () => ({ text: "The run is paused." }),
  };
}

export function resumeRun({ tenant, run, title }: ActionRun): Action {
  return {
    title: "Resume this run",
    effects: [`Workers of ${title} go on where they were.`],
    button: "Resume",
    send: (client) => client.post(`runs/${run}/settings`, { tenant, paused: false }),
    done: () => ({ text: "The run goes on." }),
  };
}

export function changeRate({ tenant, run, title }: ActionRun, current: number | null): Action {
  return {
    title: "Change the rate",
    effects: [
      `All workers of ${title} together start at most this many items per second.`,
      "Workers notice within seconds. Leave the field empty for no limit.",
    ],
    button: "Change the rate",
    input: {
      label: "Items per second",
      kind: "text",
      initial: current === null ? "" : String(current),
      problem: rateProblem,
    },
    send: (client, _opId, input) => {
      const itemsPerSecond = input.trim() === "" ? null : Number(input);
      return client.post(`runs/${run}/settings`, { tenant, itemsPerSecond });
    },
    done: () => ({ text: "The rate is changed." }),
  };
}

/** Why a text is no rate. An empty one is no limit. */
export function rateProblem(text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  return /^\d{1,9}(\.\d{1,3})?$/.test(trimmed) && Number(trimmed) > 0
    ? undefined
    : "Write a number above zero, such as 250, or nothing.";
}

export function retryFailures({ tenant, run, title }: ActionRun, count: number): Action {
  return {
    title: "Retry the failed items",
    effects: [
      `Starts a run of its own over ${plural(count, "item")} that ${title} skipped.`,
      "Items that succeed leave the list of failures. The others stay, with their new error.",
    ],
    button: `Retry ${formatCount(count)}`,
    send: (client, opId) => client.post(`console/runs/${run}/retry`, { tenant, opId }),
    done: (value) => {
      const { isStarted, command } = value as { readonly isStarted: boolean; readonly command: string };
      return isStarted
        ? { text: "The retry has started." }
        : { text: `This server runs no jobs. Run it yourself: ${command}`, isKept: true };
    },
  };
}

export function parkShard({ tenant, run }: ActionRun, shard: string): Action {
  return {
    title: "Park this shard",
    effects: [
      "No worker claims it until it is unparked. Its progress is kept.",
      "A shard that a worker holds cannot be parked from here.",
    ],
    button: "Park",
    send: (client, opId) => client.post(`console/runs/${run}/shards/${shard}/park`, { tenant, opId }),
    done: () => ({ text: "The shard is parked." }),
  };
}

export function unparkShard({ tenant, run }: ActionRun, shard: string): Action {
  return {
    title: "Unpark this shard",
    effects: [
      "Workers may claim it again, and go on after its last finished key.",
      "Its count of attempts begins again. If the reason is still there, it will be parked again.",
    ],
    button: "Unpark",
    send: (client, opId) => client.post(`runs/${run}/shards/${shard}/unpark`, { tenant, opId }),
    done: () => ({ text: "The shard can be claimed again." }),
  };
}

/** Unparks one shard after the other, and stops at the first that cannot be unparked. */
export function unparkShards({ tenant, run }: ActionRun, shards: readonly string[]): Action {
  return {
    title: `Unpark ${plural(shards.length, "shard")}`,
    effects: [
      "Workers may claim them again, and go on after their last finished keys.",
      "Their counts of attempts begin again. If the reason is still there, they will be parked again.",
    ],
    button: `Unpark ${formatCount(shards.length)}`,
    send: async (client, opId) => {
      for (const [index, shard] of shards.entries()) {
        const body = { tenant, opId: opIdAfter(opId, index) };
        const answer = await client.post(`runs/${run}/shards/${shard}/unpark`, body);
        if (!answer.ok) return answer;
      }
      return { ok: true, value: {} };
    },
    done: () => ({ text: `${plural(shards.length, "shard")} can be claimed again.` }),
  };
}

/** `key` is what is at the position, as text. */
export function splitHere({ tenant, run }: ActionRun, at: { readonly position: number; readonly key: string }): Action {
  return {
    title: "Split here",
    effects: [
      `Cuts the shard at ${at.key === "" ? "this position" : at.key} in two, so that two workers can share it.`,
      "What is done stays done. A shard that a worker holds cannot be split from here: its worker splits it when others wait.",
    ],
    button: "Split",
    send: (client, opId) => client.post(`console/runs/${run}/split`, { tenant, opId, position: at.position }),
    done: (value) => ({
      text: `The shard was split into ${plural((value as { children: readonly unknown[] }).children.length, "shard")}.`,
    }),
  };
}

export function cancelRun({ tenant, run, title }: ActionRun): Action {
  return {
    title: "Cancel this run",
    effects: [
      `Ends ${title} for good. Workers stop after the items that they have begun, and no shard can be claimed again.`,
      "Results that were written stay. A canceled run cannot be continued; Pause can.",
    ],
    button: "Cancel the run",
    isDangerous: true,
    send: (client, opId) => client.post(`runs/${run}/cancel`, { tenant, opId }),
    done: () => ({ text: "The run is canceled." }),
  };
}

export function deleteRun({ tenant, run, title }: ActionRun, name: string | undefined): Action {
  const wanted = name ?? run;
  return {
    title: "Delete this run",
    effects: [
      `Removes ${title}, its shards, its failures and its history from the store. Its results stay.`,
      "This cannot be undone, and the id of the run is never used again.",
    ],
    button: "Delete",
    isDangerous: true,
    input: {
      label: `Type ${wanted} to confirm`,
      kind: "text",
      initial: "",
      problem: (text) => (text === wanted ? undefined : "This is not the name."),
    },
    send: (client, opId, input) => client.post(`console/runs/${run}/delete`, { tenant, opId, name: input }),
    done: () => ({ text: "The run is deleted." }),
    goTo: { page: "runs" },
  };
}
