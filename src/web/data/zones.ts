/** Calendar and clock of a zone, on `Intl` alone. Instants are milliseconds in UTC; a date is "2026-11-20" in the zone. */

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** What clocks of a zone show. */
export type WallTime = {
  readonly year: number;
  /** From 1. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
};

const formats = new Map<string, Intl.DateTimeFormat>();

const formatOf = (zone: string): Intl.DateTimeFormat => {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formats.set(zone, made);
  return made;
};

/** The same name, or UTC where this browser doesn't know it: its list of zones may be older than the service's. */
export const knownZone = (zone: string): string => {
  try {
    formatOf(zone);
    return zone;
  } catch {
    return 'UTC';
  }
};

export const wallTimeAt = (ms: number, zone: string): WallTime => {
  const found: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(ms)) found[type] = Number(value);
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = found;
  return { year, month, day, hour, minute, second };
};

const asUtc = ({ year, month, day, hour, minute, second }: WallTime): number =>
  Date.UTC(year, month - 1, day, hour, minute, second);

/** How far the zone's clocks are ahead of UTC at that moment. */
export const offsetMsAt = (ms: number, zone: string): number => {
  const whole = Math.floor(ms / 1_000) * 1_000;
  return asUtc(wallTimeAt(whole, zone)) - whole;
};

/**
 * Every instant at which the zone's clocks show that time: two where it is shown twice, as clocks are put back; none
 * where it is left out.
 */
export const instantsOf = (wall: WallTime, zone: string): readonly number[] => {
  const utc = asUtc(wall);
  const offsets = new Set([offsetMsAt(utc - DAY_MS, zone), offsetMsAt(utc + DAY_MS, zone)]);
  return [...offsets]
    .map((offset) => utc - offset)
    .filter((ms) => asUtc(wallTimeAt(ms, zone)) === utc)
    .sort((a, b) => a - b);
};

/** The first of them; of a time that is left out, the moment of the change. */
export const instantOf = (wall: WallTime, zone: string): number => {
  const utc = asUtc(wall);
  return instantsOf(wall, zone)[0] ?? utc - offsetMsAt(utc - DAY_MS, zone);
};

const twoDigits = (value: number): string => String(value).padStart(2, '0');

/** The date in the zone at that moment, as `<input type="date">` has it. */
export const dateOf = (ms: number, zone: string): string => {
  const { year, month, day } = wallTimeAt(ms, zone);
  return `${String(year).padStart(4, '0')}-${twoDigits(month)}-${twoDigits(day)}`;
};

const midnightOf = (date: string): WallTime => {
  const [year = 1970, month = 1, day = 1] = date.split('-').map(Number);
  return { year, month, day, hour: 0, minute: 0, second: 0 };
};

/** The date that is so many days later, whatever clocks do in between. */
export const addDays = (date: string, days: number): string =>
  new Date(asUtc(midnightOf(date)) + days * DAY_MS).toISOString().slice(0, 10);

/** From its first moment to the first of the next day: 23, 24 or 25 hours. */
export const dayBounds = (
  date: string,
  zone: string,
): { readonly fromMs: number; readonly toMs: number } => ({
  fromMs: instantOf(midnightOf(date), zone),
  toMs: instantOf(midnightOf(addDays(date, 1)), zone),
});

/** "+01:00" */
export const offsetText = (ms: number, zone: string): string => {
  const offset = offsetMsAt(ms, zone);
  const minutes = Math.round(Math.abs(offset) / MINUTE_MS);
  return `${offset < 0 ? '-' : '+'}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
};

/** "02:14:07", on a clock of 24 hours. */
export const clockText = (
  ms: number,
  zone: string,
  { hasSeconds = true, hasMillis = false } = {},
): string => {
  const { hour, minute, second } = wallTimeAt(ms, zone);
  const millis = `.${String(Math.floor(((ms % 1_000) + 1_000) % 1_000)).padStart(3, '0')}`;
  return `${twoDigits(hour)}:${twoDigits(minute)}${hasSeconds ? `:${twoDigits(second)}` : ''}${hasMillis ? millis : ''}`;
};

/** "Berlin" of "Europe/Berlin". */
export const cityOf = (zone: string): string => (zone.split('/').at(-1) ?? zone).replaceAll('_', ' ');

/** Whether both show the same time now: another name for the same zone is no other zone. */
export const areAlike = (one: string, other: string, ms: number): boolean =>
  [0, 182, 365].every(
    (days) => offsetMsAt(ms + days * DAY_MS, one) === offsetMsAt(ms + days * DAY_MS, other),
  );
