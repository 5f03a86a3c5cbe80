import type { Camera } from '../../../../data/types.js';

export type Hours = NonNullable<Camera['detection']['schedule']>[number];
export type Day = Hours['days'][number];

/** As a week is read. */
export const WEEK: readonly Day[] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

/** As the service has it. */
export const MAX_HOURS = 32;
const TIME_OF_DAY = /^(?:[01]\d|2[0-3]):[0-5]\d$/;
const MIDNIGHT = '00:00';
const END_OF_DAY = '24:00';

/** All nights: hours that end before they begin end on the next day. */
export const newHours = (): Hours => ({ days: [...WEEK], from: '20:00', to: '06:00' });

/** With the day, or without it where it was in them. */
export const withDay = (hours: Hours, day: Day): Hours => ({
  ...hours,
  days: WEEK.filter((each) => hours.days.includes(each) !== (each === day)),
});

/** Fields for times have no 24:00: the midnight at which hours end is written, and shown, as 00:00. */
export const endOf = (written: string): string => (written === MIDNIGHT ? END_OF_DAY : written);
export const shownEnd = (to: string): string => (to === END_OF_DAY ? MIDNIGHT : to);

export type HoursFault = 'no_days' | 'no_time' | 'same_time';

/** What the service would refuse, by the path that it would name. */
export const hoursFaults = (schedule: readonly Hours[]): Map<string, HoursFault> => {
  const faults = new Map<string, HoursFault>();
  for (const [nth, { days, from, to }] of schedule.entries()) {
    const path = `detection.schedule[${nth}]`;
    if (days.length === 0) faults.set(`${path}.days`, 'no_days');
    if (from === to) faults.set(`${path}.to`, 'same_time');
    if (!TIME_OF_DAY.test(from)) faults.set(`${path}.from`, 'no_time');
    if (to !== END_OF_DAY && !TIME_OF_DAY.test(to)) faults.set(`${path}.to`, 'no_time');
  }
  return faults;
};
