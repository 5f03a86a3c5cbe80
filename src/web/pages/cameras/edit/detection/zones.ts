import type { Camera } from '../../../../data/types.js';
import { type HoursFault, hoursFaults } from './schedule.js';

export type Detection = Camera['detection'];
export type Zone = NonNullable<Detection['zones']>[number];
export type Point = Zone['points'][number];

/** As the service has it. */
export const MAX_ZONES = 16;
export const MAX_POINTS = 64;
const MIN_POINTS = 3;
export const MAX_NAME = 64;
const MAX_LABELS = 100;
/** Fractions of the picture are told, and kept, in tenths of a percent. */
const STEPS = 1_000;

const inPicture = (value: number): number => Math.round(Math.min(Math.max(value, 0), 1) * STEPS) / STEPS;

export const pointAt = (x: number, y: number): Point => [inPicture(x), inPicture(y)];

const START: readonly Point[] = [
  [0.3, 0.3],
  [0.7, 0.3],
  [0.7, 0.7],
  [0.3, 0.7],
];

/** A square in the middle, to be moved to where it belongs; its name is nobody else's. */
export const newZone = (
  zones: readonly Zone[],
  kind: Zone['kind'],
  nameOf: (nth: number) => string,
): Zone => {
  const names = new Set(zones.map(({ name }) => name));
  let nth = zones.length + 1;
  while (names.has(nameOf(nth))) nth += 1;
  return { name: nameOf(nth), kind, points: START.map(([x, y]) => [x, y]) };
};

export const withPoint = (zone: Zone, nth: number, point: Point): Zone => ({
  ...zone,
  points: zone.points.map((each, index) => (index === nth ? point : each)),
});

/** A corner in the middle between one and the next. */
export const withCorner = (zone: Zone, after: number): Zone => {
  const [x, y] = zone.points[after]!;
  const [nextX, nextY] = zone.points[(after + 1) % zone.points.length]!;
  const points = [...zone.points];
  points.splice(after + 1, 0, pointAt((x + nextX) / 2, (y + nextY) / 2));
  return mayGrow(zone) ? { ...zone, points } : zone;
};

export const withoutCorner = (zone: Zone, nth: number): Zone =>
  mayShrink(zone) ? { ...zone, points: zone.points.filter((_, index) => index !== nth) } : zone;

export const mayGrow = ({ points }: Zone): boolean => points.length < MAX_POINTS;
export const mayShrink = ({ points }: Zone): boolean => points.length > MIN_POINTS;

/** Without what is empty: that is as nobody had said it. */
export const withRules = (detection: Detection, changes: Partial<Detection>): Detection => {
  const all = { ...detection, ...changes };
  const isSaid = ([, value]: [string, unknown]): boolean =>
    value !== undefined && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(all).filter(isSaid)) as Detection;
};

/** "person, car" */
export const labelsOf = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map((label) => label.trim())
      .filter((label) => label !== ''),
  ),
];

/** A percentage that somebody writes, as a fraction; undefined: nothing is written. */
export const fractionOf = (text: string): number | undefined => {
  const percent = Number(text.replace(',', '.'));
  return text.trim() === '' || Number.isNaN(percent) ? undefined : percent / 100;
};

export const percentOf = (fraction: number | undefined): string =>
  fraction === undefined ? '' : String(Math.round(fraction * STEPS * 10) / 100);

export type RuleFault =
  | HoursFault
  | ('no_name' | 'long_name' | 'twice' | 'many_labels' | 'long_label' | 'no_fraction');

const isFraction = (value: number | undefined): boolean =>
  value === undefined || (value >= 0 && value <= 1 && Number.isFinite(value));

/** What the service would refuse, by the path that it would name. */
export const faultsOf = ({
  labels = [],
  min_score,
  min_size,
  zones = [],
  schedule = [],
}: Detection): Map<string, RuleFault> => {
  const faults = new Map<string, RuleFault>(hoursFaults(schedule));
  if (labels.length > MAX_LABELS) faults.set('detection.labels', 'many_labels');
  if (labels.some((label) => label.length > MAX_NAME)) faults.set('detection.labels', 'long_label');
  if (!isFraction(min_score)) faults.set('detection.min_score', 'no_fraction');
  if (!isFraction(min_size)) faults.set('detection.min_size', 'no_fraction');
  for (const [nth, { name }] of zones.entries()) {
    const path = `detection.zones[${nth}].name`;
    if (name === '') faults.set(path, 'no_name');
    else if (name.length > MAX_NAME) faults.set(path, 'long_name');
    else if (zones.findIndex((zone) => zone.name === name) < nth) faults.set(path, 'twice');
  }
  return faults;
};
