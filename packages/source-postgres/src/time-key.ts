// Times and dates as integers: microseconds and days since 1970, in UTC. The server sorts them the same way.

/** What infinities become: the least and the greatest integer of a tuple. */
export const AFTER_ALL_TIMES: bigint = (1n << 64n) - 1n;
export const BEFORE_ALL_TIMES: bigint = -AFTER_ALL_TIMES;

const DAY_US = 86_400_000_000n;
/** 4714-11-24 BC, the server's first day, and the day after its last one for dates and for times. */
const FIRST_DAY = -2_440_588n;
const DATE_END = 2_145_042_906n;
const TIME_END_DAY = 106_762_940n;

/** What the integers of a column can be. Values between `end` and infinity do not exist, nor do those below `first`. */
interface TimeLimits {
  readonly first: bigint;
  readonly end: bigint;
}

const LIMITS: Readonly<Record<"time" | "date", TimeLimits>> = {
  time: { first: FIRST_DAY * DAY_US, end: TIME_END_DAY * DAY_US },
  date: { first: FIRST_DAY, end: DATE_END },
};

/** The least value of the type that is at or above an integer; `undefined` if there is none. */
export function timeAtOrAbove(kind: "time" | "date", integer: bigint): bigint | undefined {
  const { first, end } = LIMITS[kind];
  if (integer <= BEFORE_ALL_TIMES) return BEFORE_ALL_TIMES;
  if (integer < first) return first;
  if (integer < end) return integer;
  return integer <= AFTER_ALL_TIMES ? AFTER_ALL_TIMES : undefined;
}

/** A value as text that the server reads the same way whatever its settings are. */
export function timeText(kind: "time" | "date", integer: bigint): string {
  if (integer === BEFORE_ALL_TIMES) return "-infinity";
  if (integer === AFTER_ALL_TIMES) return "infinity";
  if (kind === "date") return dayText(integer, "");
  const rest = ((integer % DAY_US) + DAY_US) % DAY_US;
  return dayText((integer - rest) / DAY_US, ` ${clockText(rest)}+00`);
}

function clockText(us: bigint): string {
  const seconds = us / 1_000_000n;
  const two = (value: bigint): string => String(value).padStart(2, "0");
  const clock = [seconds / 3600n, (seconds / 60n) % 60n, seconds % 60n].map(two).join(":");
  return `${clock}.${String(us % 1_000_000n).padStart(6, "0")}`;
}

const DAYS_PER_ERA = 146_097;
/** From March 1 of the year 0 to 1970: years that begin in March have their leap day at the end. */
const DAYS_BEFORE_1970 = 719_468;

function dayText(days: bigint, clock: string): string {
  const day = Number(days) + DAYS_BEFORE_1970;
  const era = Math.floor(day / DAYS_PER_ERA);
  const dayOfEra = day - era * DAYS_PER_ERA;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const dayOfMonth = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const pad = (value: number, size: number): string => String(value).padStart(size, "0");
  // There is no year 0: before the year 1 comes 1 BC.
  const shown = `${pad(year > 0 ? year : 1 - year, 4)}-${pad(month, 2)}-${pad(dayOfMonth, 2)}${clock}`;
  return year > 0 ? shown : `${shown} BC`;
}
