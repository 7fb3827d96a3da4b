import { LogicalTime, RunId } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import type { RenewBudgetRequest } from "../../coordinator/budget-notes.ts";
import type { RunSettings, RunSettingsChange } from "../../records/run-settings.ts";
import type { ConformanceCase } from "./conformance-case.ts";
import { OTHER_TENANT, RUN, TENANT, text, worker, type World } from "./world.ts";

const OF_RUN = { tenant: TENANT, run: RUN } as const;
const NOTHING_SET: RunSettings = {
  paused: false,
  pausedSince: undefined,
  itemsPerSecond: null,
  concurrency: null,
  heldForMs: 0,
};

const settingsOf = async ({ coordinator }: World): Promise<RunSettings> =>
  unwrap(await coordinator.getRunSettings(OF_RUN));
const change = async ({ coordinator }: World, wanted: RunSettingsChange): Promise<RunSettings> =>
  unwrap(await coordinator.changeRunSettings({ ...OF_RUN, change: wanted }));

async function changedAndUnset(world: World): Promise<void> {
  await world.seed();
  world.expect(await settingsOf(world)).toEqual(NOTHING_SET);
  world.clock.set(5n);
  const paused = { ...NOTHING_SET, paused: true, pausedSince: LogicalTime.fromRaw(5n) };
  world.expect(await change(world, { paused: true })).toEqual(paused);
  world.clock.set(9n);
  // Repeating a pause does not move its beginning.
  const limited = { ...paused, itemsPerSecond: 0.25, concurrency: 50 };
  world.expect(await change(world, { paused: true, itemsPerSecond: 0.25, concurrency: 50 })).toEqual(limited);
  world.expect(await settingsOf(world)).toEqual(limited);
  world.expect(await change(world, {})).toEqual(limited);
  world.expect(await change(world, { paused: false, itemsPerSecond: null })).toEqual({
    ...NOTHING_SET,
    concurrency: 50,
  });
  world.expect(await change(world, { paused: false, concurrency: null })).toEqual(NOTHING_SET);
}

async function changedByTwo(world: World): Promise<void> {
  await world.seed();
  const other = world.makeCoordinator();
  const [first, second] = await Promise.all([
    world.coordinator.changeRunSettings({ ...OF_RUN, change: { itemsPerSecond: 7 } }),
    other.changeRunSettings({ ...OF_RUN, change: { concurrency: 3 } }),
  ]);
  unwrap(first);
  unwrap(second);
  world.expect(await settingsOf(world)).toEqual({ ...NOTHING_SET, itemsPerSecond: 7, concurrency: 3 });
  unwrap(await other.changeRunSettings({ ...OF_RUN, change: { itemsPerSecond: 8 } }));
  world.expect((await settingsOf(world)).itemsPerSecond).toBe(8);
}

async function ofNoRun(world: World): Promise<void> {
  const { coordinator } = world;
  const wanted = { change: { paused: true } } as const;
  world.expectRefusal(await coordinator.getRunSettings(OF_RUN), "RunNotFound");
  world.expectRefusal(await coordinator.changeRunSettings({ ...OF_RUN, ...wanted }), "RunNotFound");
  await world.seed();
  world.expectRefusal(await coordinator.getRunSettings({ tenant: OTHER_TENANT, run: RUN }), "RunNotFound");
  world.expectRefusal(
    await coordinator.changeRunSettings({ tenant: TENANT, run: RunId.fromRaw(9n), ...wanted }),
    "RunNotFound",
  );
  world.expect(await settingsOf(world)).toEqual(NOTHING_SET);
}

async function ofALaterVersion(world: World): Promise<void> {
  await world.seed();
  const notes = [{ space: "setting", key: text("color"), value: text('{"value":"red"}') }] as const;
  await world.store.commit([{ kind: "WriteNotes", ...OF_RUN, notes }]);
  world.expect(await change(world, { concurrency: 2 })).toEqual({ ...NOTHING_SET, concurrency: 2 });
}

async function outOfBounds(world: World): Promise<void> {
  await world.seed();
  const bad: readonly object[] = [
    { itemsPerSecond: 0 },
    { itemsPerSecond: -1 },
    { itemsPerSecond: Infinity },
    { itemsPerSecond: "7" },
    { concurrency: 0 },
    { concurrency: 1.5 },
    { paused: "yes" },
    { paused: null },
  ];
  for (const wanted of bad)
    await world.expectViolation(() => world.coordinator.changeRunSettings({ ...OF_RUN, change: wanted }));
  world.expect(await settingsOf(world)).toEqual(NOTHING_SET);
}

async function budgets(world: World): Promise<void> {
  await world.seed();
  const claim = { ...OF_RUN, held: 0, returned: 0, wanted: 100, slots: 0, slotsWanted: 4, ttl: 1000n } as const;
  const renew = async (by: number, fields: Partial<RenewBudgetRequest> = {}) =>
    unwrap(await world.coordinator.renewBudget({ ...claim, worker: worker(by), ...fields }));
  // A run without limits has no budget note, and nothing is written.
  world.expect((await renew(1)).grant).toBe(undefined);
  await change(world, { itemsPerSecond: 10, concurrency: 5 });
  world.expect((await renew(1)).grant).toEqual({ items: 1, slots: 4, slotTarget: 4, untilItemMs: undefined });
  world.clock.set(1001n);
  // The first worker has not renewed in time, so the whole budget is free.
  const { grant, settings } = await renew(2);
  world.expect(grant).toEqual({ items: 10, slots: 4, slotTarget: 4, untilItemMs: undefined });
  world.expect(settings).toEqual({ ...NOTHING_SET, itemsPerSecond: 10, concurrency: 5 });
  world.expect((await renew(1)).grant).toMatchObject({ items: 0, slots: 1, slotTarget: 3 });
  world.expect((await renew(2, { held: 10, slots: 4 })).grant).toMatchObject({ slots: 4, slotTarget: 2 });
  world.expect((await renew(2, { held: 10, slots: 2 })).grant).toMatchObject({ slots: 2, slotTarget: 2 });
  world.expect((await renew(1, { slots: 1 })).grant).toMatchObject({ slots: 3, slotTarget: 3 });
  const given = { ...OF_RUN, worker: worker(2), returned: 10 };
  unwrap(await world.coordinator.returnBudget(given));
  unwrap(await world.coordinator.returnBudget(given));
  world.expect((await renew(1, { slots: 3 })).grant).toMatchObject({ items: 10, slots: 4 });
  await world.expectViolation(() => world.coordinator.renewBudget({ ...claim, worker: worker(1), held: -1 }));
  // The budget note does not affect the settings.
  world.expect(await settingsOf(world)).toEqual({ ...NOTHING_SET, itemsPerSecond: 10, concurrency: 5 });
}

async function budgetsOfMany(world: World): Promise<void> {
  await world.seed();
  await change(world, { concurrency: 7 });
  const claim = { ...OF_RUN, held: 0, returned: 0, wanted: 0, slots: 0, slotsWanted: 3, ttl: 1000n } as const;
  const grants = await Promise.all(
    Array.from({ length: 4 }, (_, index) =>
      world.makeCoordinator().renewBudget({ ...claim, worker: worker(index + 1) }),
    ),
  );
  const slots = grants.map((grant) => unwrap(grant).grant!.slots);
  world.expect(slots.reduce((sum, each) => sum + each, 0)).toBe(7);
}

async function held(world: World): Promise<void> {
  const hold = (ms: number) => world.coordinator.holdRun({ ...OF_RUN, ms });
  world.expectRefusal(await hold(5), "RunNotFound");
  await world.seed();
  unwrap(await hold(500));
  unwrap(await hold(20));
  world.expect((await settingsOf(world)).heldForMs).toBe(500);
  world.clock.set(400n);
  world.expect((await settingsOf(world)).heldForMs).toBe(101);
  world.clock.set(501n);
  world.expect(await settingsOf(world)).toEqual(NOTHING_SET);
}

/** The settings of a run, which apply to all its workers. */
export const settingCases: readonly ConformanceCase[] = [
  { name: "settings change one by one, and keep their values", run: changedAndUnset },
  { name: "two callers that change different settings do not undo each other's change", run: changedByTwo },
  { name: "a run that does not exist has no settings", run: ofNoRun },
  { name: "a setting of a later version is ignored", run: ofALaterVersion },
  { name: "workers share the limits of a run, and what one of them loses returns", run: budgets },
  { name: "workers that ask at the same time do not get more than the limit", run: budgetsOfMany },
  { name: "a hold lasts as long as the longest request", run: held },
  { name: "a setting out of bounds is refused", run: outOfBounds },
];
