/** Days of the week as they are named, from Sunday on as `Date` counts them. */
export const dayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
export type DayName = (typeof dayNames)[number];

/** Some hours of some days; one that ends no later than it begins ends on the next day. Times are `HH:MM`, or `24:00`. */
export type ScheduledHours = {
  readonly days: readonly DayName[];
  readonly from: string;
  readonly to: string;
};

/** What clocks on the wall show at a site. */
export type LocalTime = { readonly day: number; readonly minute: number };

const DAY_MINUTES = 1_440;

const minuteOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));

/** Whether it is a time to detect; without hours it always is. */
export const isScheduled = (
  schedule: readonly ScheduledHours[] | undefined,
  { day, minute }: LocalTime,
): boolean => {
  if (schedule === undefined || schedule.length === 0) return true;
  const today = dayNames[day]!;
  const yesterday = dayNames[(day + 6) % 7]!;
  return schedule.some(({ days, from, to }) => {
    const [fromMinute, toMinute] = [minuteOf(from), minuteOf(to)];
    const endMinute = toMinute > fromMinute ? toMinute : toMinute + DAY_MINUTES;
    const isToday = days.includes(today) && minute >= fromMinute && minute < endMinute;
    return isToday || (days.includes(yesterday) && minute + DAY_MINUTES < endMinute);
  });
};

const formatOf = (zone: string): Intl.DateTimeFormat => {
  const fields = { weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  try {
    return new Intl.DateTimeFormat('en-US', zone === '' ? fields : { ...fields, timeZone: zone });
  } catch {
    // Of a backup that was made where more zones are known.
    return new Intl.DateTimeFormat('en-US', fields);
  }
};

/** Tells the time of a site: by its zone, or by the machine's own where that is "". */
export class SiteClock {
  #zone: string | null = null;
  #format = formatOf('');

  at(wallMs: number, zone: string): LocalTime {
    if (zone !== this.#zone) {
      this.#format = formatOf(zone);
      this.#zone = zone;
    }
    const parts = new Map(this.#format.formatToParts(wallMs).map(({ type, value }) => [type, value]));
    const days: readonly string[] = dayNames;
    const day = days.indexOf(parts.get('weekday')?.toLowerCase() ?? '');
    return { day, minute: Number(parts.get('hour')) * 60 + Number(parts.get('minute')) };
  }
}
