import { LogicalTime, RunId } from "@gossip/contracts";
import { unwrap } from "@gossip/stdx";
import type { RunSettings, RunSettingsChange } from "../../records/run-settings.ts";
import type { ConformanceCase } from "./conformance-case.ts";
import { OTHER_TENANT, RUN, TENANT, text, type World } from "./world.ts";

const OF_RUN = { tenant: TENANT, run: RUN } as const;
const NOTHING_SET: RunSettings = { paused: false, pausedSince: undefined, itemsPerSecond: null, concurrency: null };

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

/** The settings of a run, which apply to all its workers. */
export const settingCases: readonly ConformanceCase[] = [
  { name: "settings change one by one, and keep their values", run: changedAndUnset },
  { name: "two callers that change different settings do not undo each other's change", run: changedByTwo },
  { name: "a run that does not exist has no settings", run: ofNoRun },
  { name: "a setting of a later version is ignored", run: ofALaterVersion },
  { name: "a setting out of bounds is refused", run: outOfBounds },
];
