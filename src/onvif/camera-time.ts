import { at, type Element, number, textOf } from '../analytics/xml-tree.js';

const part = (element: Element | undefined, name: string): number =>
  number(textOf(at(element, name))) ?? Number.NaN;

/** What toISOString can still write with four digits. */
const isWritable = (timeMs: number): boolean => timeMs >= 0 && timeMs < 253_402_300_800_000;

/** A `DateTime` (ONVIF's schema) as milliseconds; null where it is none. */
const utcOf = (element: Element | undefined): number | null => {
  const [date, time] = [at(element, 'Date'), at(element, 'Time')];
  const value = Date.UTC(
    part(date, 'Year'),
    part(date, 'Month') - 1,
    part(date, 'Day'),
    part(time, 'Hour'),
    part(time, 'Minute'),
    part(time, 'Second'),
  );
  return isWritable(value) ? value : null;
};

/**
 * What the camera's clock shows, of its answer to GetSystemDateAndTime or, where that tells nothing, of the `Date` of
 * its web server; null: it tells nobody.
 */
export const cameraTimeMs = (answer: Element | undefined, httpDate: string): number | null => {
  const told = utcOf(at(answer, 'SystemDateAndTime', 'UTCDateTime'));
  if (told !== null) return told;
  const date = Date.parse(httpDate);
  return isWritable(date) ? date : null;
};

/** How far one clock is from another, for people: `2 h 5 min ahead`. "" where nobody need care. */
export const clockRemark = (offsetSec: number): string => {
  const seconds = Math.abs(offsetSec);
  if (seconds < 30) return '';
  const minutes = Math.round(seconds / 60);
  const [days, hours] = [Math.floor(minutes / 1_440), Math.floor((minutes % 1_440) / 60)];
  const span =
    minutes < 1
      ? `${Math.round(seconds)} s`
      : [days && `${days} d`, hours && `${hours} h`, minutes % 60 && `${minutes % 60} min`]
          .filter(Boolean)
          .join(' ');
  return `${span} ${offsetSec > 0 ? 'ahead' : 'behind'}`;
};
